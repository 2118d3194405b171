// Two threads that share state outside of memory, under a lock or in an order that only that state keeps: each variant (-DK=…,
// some also with -DNEG) is correct in every run, because whoever comes first finds the state that says so.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <malloc.h>
#include <dirent.h>
#include <time.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int *p, got;
static char path[64]; static uintptr_t saved; static int n0; static DIR *dir; static int q; static int fd[2]; static char *map1,*map2; static char buf[64];
static struct timespec dead; static pthread_t A,B; static pthread_mutex_t rob; static sem_t sm; static char words[]="a b c"; static int cell; static pid_t kid;
#if K==1
static pthread_barrier_t ba;
#define INITB pthread_barrier_init(&ba,0,3);
#endif
static void prep(void){
  snprintf(path,sizeof path,"./outside.%d",K); unlink(path); rmdir(path);
#if K==1
  mallopt(M_ARENA_MAX,1); pthread_mutex_lock(&m); INITB
#elif K==3
  srand(1);
#elif K==4
  n0=open("/dev/null",O_RDONLY); close(n0);
#elif K==5||K==6
#elif K==7
  void*a=mmap(0,1<<20,3,MAP_PRIVATE|MAP_ANONYMOUS,-1,0); saved=(uintptr_t)a; munmap(a,1<<20);
#elif K==8
  strtok(words," ");
#elif K==9
  srand48(5);
#elif K==10
  mkdir(path,0700); char f[99]; snprintf(f,99,"%s/x",path); close(creat(f,0600)); dir=opendir(path); struct dirent*e=readdir(dir); snprintf(buf,sizeof buf,"%s",readdir(dir)->d_name); (void)e; rewinddir(dir); readdir(dir);
#elif K==11
  for(int i=0;i<2;i++){ pid_t c=fork(); if(!c) _exit(i+1); siginfo_t si; waitid(P_PID,c,&si,WEXITED|WNOWAIT);} 
#elif K==12
  socketpair(AF_UNIX,SOCK_DGRAM,0,fd); write(fd[1],"A",1); write(fd[1],"B",1);
#elif K==13
  sigset_t s; sigemptyset(&s); sigaddset(&s,SIGUSR1); sigaddset(&s,SIGUSR2); pthread_sigmask(SIG_BLOCK,&s,0); kill(getpid(),SIGUSR1); kill(getpid(),SIGUSR2);
#elif K==15
  q=msgget(IPC_PRIVATE,0600); struct{long t;char c;}a={1,'A'},b={1,'B'}; msgsnd(q,&a,1,0); msgsnd(q,&b,1,0);
#elif K==17
  q=eventfd(1,EFD_NONBLOCK);
#elif K==18
  close(creat(path,0600));
#elif K==27
  umask(022);
#elif K==28
  signal(SIGUSR1,SIG_DFL);
#elif K==31
  { pthread_key_t k; pthread_key_create(&k,0); pthread_key_delete(k); n0=k; }
#elif K==41||K==65
  unsetenv("RWX");
#elif K==43
  q=open(path,O_RDWR|O_CREAT,0600); pwrite(q,"0",1,0);
#elif K==44
  q=memfd_create("x",0); ftruncate(q,4096); map1=mmap(0,4096,3,MAP_SHARED,q,0); map2=mmap(0,4096,3,MAP_SHARED,q,0);
#elif K==48||K==56||K==57
  pipe(fd);
#elif K==49
  pthread_mutexattr_t at; pthread_mutexattr_init(&at); pthread_mutexattr_setrobust(&at,PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&rob,&at);
#elif K==50
  chdir("/");
#elif K==51
  sem_init(&sm,0,0);
#elif K==58
  kid=fork(); if(!kid){ for(;;) pause(); }
#elif K==60
  clock_gettime(CLOCK_MONOTONIC,&dead); dead.tv_nsec+=DL; if(dead.tv_nsec>=1000000000){dead.tv_nsec-=1000000000;dead.tv_sec++;}
#endif
}
#if K<40
static int first(void){
#if K==1
  void*a=malloc(3000); __asm__ volatile("":"+r"(a)); return (uintptr_t)a==saved;
#elif K==3
  return rand()==1804289383;
#elif K==4
  return open("/dev/null",O_RDONLY)==n0;
#elif K==5
  return open(path,O_CREAT|O_EXCL|O_RDWR,0600)>=0;
#elif K==6
  return mkdir(path,0700)==0;
#elif K==7
  return (uintptr_t)mmap(0,1<<20,3,MAP_PRIVATE|MAP_ANONYMOUS,-1,0)==saved;
#elif K==8
  return strtok(0," ")[0]=='b';
#elif K==9
  static const int z=0; (void)z; long v=lrand48(); return v==saved;
#elif K==10
  return strcmp(readdir(dir)->d_name,buf)==0;
#elif K==11
  int st=0; waitpid(-1,&st,0); return WEXITSTATUS(st)==1;
#elif K==12
  char c; read(fd[0],&c,1); return c=='A';
#elif K==19
  char c; read(0,&c,1); return c=='A';
#elif K==20
  return getchar()=='A';
#elif K==13
  sigset_t s; int g=0; sigemptyset(&s); sigaddset(&s,SIGUSR1); sigaddset(&s,SIGUSR2); sigwait(&s,&g); return g==SIGUSR1;
#elif K==15
  struct{long t;char c;}a; msgrcv(q,&a,1,0,0); return a.c=='A';
#elif K==17
  uint64_t v; return read(q,&v,8)==8;
#elif K==18
  return unlink(path)==0;
#elif K==27
  return umask(077)==022;
#elif K==28
  return signal(SIGUSR1,SIG_IGN)==SIG_DFL;
#elif K==29
  int one=1; __asm__ volatile("xchgl %0,%1":"+r"(one),"+m"(cell)::"memory"); return one==0;
#elif K==30
  static uintptr_t dummy; (void)dummy; return dup(0)==3; 
#elif K==31
  pthread_key_t k; pthread_key_create(&k,0); return k==n0;
#endif
}
#if K==1
#define WARM { void*v=malloc(24); __asm__ volatile("":"+r"(v)); free(v); pthread_barrier_wait(&ba); }
#else
#define WARM
#endif
static void *ta(void*_){ WARM pthread_mutex_lock(&m); if(first()) got=*p; else free(p); pthread_mutex_unlock(&m); return 0; }
static void *tb(void*_){ return ta(_); }
#else
static void post(void){
#if K==41||K==65
  setenv("RWX","1",1);
#elif K==42
  close(creat(path,0600));
#elif K==43
  pwrite(q,"1",1,0);
#elif K==44
  map1[0]=1;
#elif K>=70
  strcpy(buf,"1");
#elif K==48||K==57
  write(fd[1],"1",1);
#elif K==50
  chdir("/");
#elif K==51
  sem_post(&sm);
#elif K==54
  signal(SIGUSR1,SIG_IGN);
#elif K==58
  kill(kid,SIGKILL);
#endif
}
static int cmpi(const void*a,const void*b){ return *(char*)a-*(char*)b; }
static int check(void){
#if K==41
  return getenv("RWX")!=0;
#elif K==65
  const char*e=secure_getenv("RWX"); return e&&*e=='1';
#elif K==42
  return access(path,F_OK)==0;
#elif K==43
  char c; pread(q,&c,1,0); return c=='1';
#elif K==44
  return map2[0]==1;
#elif K==48
  struct pollfd f={fd[0],POLLIN,0}; return poll(&f,1,0)==1;
#elif K==50
  char b[99]; getcwd(b,99); return b[1]==0;
#elif K==51
  int v; sem_getvalue(&sm,&v); return v==1;
#elif K==52
  return pthread_tryjoin_np(A,0)==0;
#elif K==54
  struct sigaction s; sigaction(SIGUSR1,0,&s); return s.sa_handler==SIG_IGN;
#elif K==57
  int n=0; ioctl(fd[0],FIONREAD,&n); return n==1;
#elif K==58
  return waitpid(kid,0,WNOHANG)==kid;
#elif K==70
  return atoi(buf);
#elif K==71
  return strtol(buf,0,10);
#elif K==72
  int v=0; sscanf(buf,"%d",&v); return v;
#elif K==73
  return strchr(buf,'1')!=0;
#elif K==74
  return strstr(buf,"1")!=0;
#elif K==75
  char o[64]; snprintf(o,64,"%s",buf); return o[0]=='1';
#elif K==76
  return strcasecmp(buf,"1")==0;
#elif K==77
  return strspn(buf,"1")==1;
#elif K==78
  char o[4]; o[0]=0; write(fd[1],buf,1); return 0;
#elif K==79
  return strtod(buf,0)==1.0;
#elif K==80
  return memchr(buf,'1',4)!=0;
#elif K==81
  char key='1'; return bsearch(&key,buf,1,1,cmpi)!=0;
#elif K==82
  char *d=strdup(buf); int r=d[0]=='1'; free(d); return r;
#elif K==83
  return strpbrk(buf,"1")!=0;
#elif K==84
  return rawmemchr(buf,0)!=buf;
#elif K==85
  return strnlen(buf,9)==1;
#elif K==86
  char o[8]; strncpy(o,buf,8); return o[0]=='1';
#elif K==87
  char o[8]; *stpcpy(o,buf)=0; return o[0]=='1';
#elif K==88
  return strrchr(buf,'1')!=0;
#elif K==89
  char o[8]; *(char*)mempcpy(o,buf,2)=0; return o[0]=='1';
#elif K==90
  return strverscmp(buf,"1")==0;
#elif K==91
  return memmem(buf,4,"1",1)!=0;
#elif K==92
  return strcoll(buf,"1")==0;
#elif K==93
  return strncasecmp(buf,"1",1)==0;
#elif K==94
  char o[8]; memccpy(o,buf,0,8); return o[0]=='1';
#elif K==95
  char*s=0; asprintf(&s,"%s",buf); int r=s[0]=='1'; free(s); return r;
#else
  return 0;
#endif
}
#if K==49
static void *ta(void*_){ pthread_mutex_lock(&rob); got=*p; return 0; }
static void *tb(void*_){ if(pthread_mutex_lock(&rob)==EOWNERDEAD){ free(p); pthread_mutex_consistent(&rob);} pthread_mutex_unlock(&rob); return 0; }
#elif K==52
static void *ta(void*_){ got=*p; return 0; }
static void *tb(void*_){ while(!check()) sched_yield(); free(p); return 0; }
#elif K==56
static void *ta(void*_){ got=*p; close(fd[1]); return 0; }
static void *tb(void*_){ char c; if(read(fd[0],&c,1)==0) free(p); return 0; }
#elif K==58
static void *ta(void*_){ got=*p; kill(kid,SIGKILL); return 0; }
static void *tb(void*_){ if(waitpid(kid,0,0)==kid) free(p); return 0; }
#elif K==60
static int past(void){ struct timespec t; clock_gettime(CLOCK_MONOTONIC,&t); return t.tv_sec>dead.tv_sec||(t.tv_sec==dead.tv_sec&&t.tv_nsec>=dead.tv_nsec); }
static void *ta(void*_){ pthread_mutex_lock(&m); if(!past()) got=*p; pthread_mutex_unlock(&m); return 0; }
static void *tb(void*_){ sched_yield(); pthread_mutex_lock(&m); if(past()) free(p); pthread_mutex_unlock(&m); return 0; }
#elif K==61
static volatile int stop; static void h(int s){ free(p); stop=1; }
static void *ta(void*_){ got=*p; pthread_kill(B,SIGUSR1); return 0; }
static void *tb(void*_){ while(!stop) sched_yield(); return 0; }
#elif K==62
static void cl(void*_){ free(p); }
static void *ta(void*_){ got=*p; pthread_cancel(B); return 0; }
static void *tb(void*_){ pthread_cleanup_push(cl,0); for(;;) pause(); pthread_cleanup_pop(0); return 0; }
#elif K==63
static pthread_key_t key; static void ds(void*v){ got=*p; }
static void *ta(void*_){ pthread_setspecific(key,(void*)1); return 0; }
static void *tb(void*_){ pthread_join(A,0); free(p); return 0; }
#elif K==64
static void h(int s){ free(p); }
static void *ta(void*_){ got=*p; kill(getpid(),SIGUSR1); return 0; }
static void *tb(void*_){ sigset_t s; int g; sigemptyset(&s); sigaddset(&s,SIGUSR1); sigwait(&s,&g); free(p); return 0; }
#else
#ifdef NEG
static void *ta(void*_){ pthread_mutex_lock(&m); post(); free(p); pthread_mutex_unlock(&m); return 0; }
static void *tb(void*_){ pthread_mutex_lock(&m); if(!check()) got=*p; pthread_mutex_unlock(&m); return 0; }
#define NONE
#else
static void *ta(void*_){ pthread_mutex_lock(&m); got=*p; post(); pthread_mutex_unlock(&m); return 0; }
#endif
#ifndef NEG
static void *tb(void*_){ pthread_mutex_lock(&m); if(check()) free(p); pthread_mutex_unlock(&m); return 0; }
#endif
#endif
#endif
int main(void){ p=malloc(4); *p=5; prep();
#if K==9
  saved=lrand48(); srand48(5);
#elif K==30
  n0=dup(0); close(n0); if(n0!=3) return 9;
#elif K==61
  signal(SIGUSR1,h);
#elif K==63
  pthread_key_create(&key,ds);
#elif K==64
  { sigset_t s; sigemptyset(&s); sigaddset(&s,SIGUSR1); pthread_sigmask(SIG_BLOCK,&s,0); }
#endif
#if K==61||K==62||defined(NEG)
  pthread_create(&B,0,tb,0); pthread_create(&A,0,ta,0);
#else
  pthread_create(&A,0,ta,0); pthread_create(&B,0,tb,0);
#endif
#if K==1
  pthread_barrier_wait(&ba); { void*a=malloc(3000); void*g=malloc(3000); __asm__ volatile("":"+r"(g),"+r"(a)); saved=(uintptr_t)a; free(a); pthread_mutex_unlock(&m); }
#endif
#if K==52||K==63
  pthread_join(B,0);
#else
  pthread_join(A,0); pthread_join(B,0);
#endif
#if K==58
  kill(kid,SIGKILL);
#endif
  printf("%d\n",got); return 0; }
