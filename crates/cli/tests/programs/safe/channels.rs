//! Channels in safe Rust.
#![forbid(unsafe_code)]

use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_micros(100);

#[test]
fn one_message() {
    let (send, receive) = mpsc::channel();
    let sender = thread::spawn(move || send.send(vec![1, 2]).unwrap());
    assert_eq!(receive.recv().unwrap(), [1, 2]);
    sender.join().unwrap();
}

#[test]
fn several_senders() {
    let (send, receive) = mpsc::channel();
    let senders: Vec<_> = (0..3)
        .map(|number| {
            let send = send.clone();
            thread::spawn(move || (0..2).for_each(|_| send.send(Box::new(number)).unwrap()))
        })
        .collect();
    drop(send);
    assert_eq!(receive.iter().map(|number| *number).sum::<i32>(), 6);
    senders.into_iter().for_each(|sender| sender.join().unwrap());
}

#[test]
fn many_messages() {
    // More than a block of the list has.
    let (send, receive) = mpsc::channel();
    let sender = thread::spawn(move || (0..70).for_each(|number| send.send(number).unwrap()));
    assert_eq!(receive.iter().sum::<i32>(), 69 * 35);
    sender.join().unwrap();
}

#[test]
fn bounded() {
    let (send, receive) = mpsc::sync_channel(1);
    let sender = thread::spawn(move || (0..4).for_each(|number| send.send(number.to_string()).unwrap()));
    assert_eq!(receive.iter().collect::<Vec<String>>(), ["0", "1", "2", "3"]);
    sender.join().unwrap();
}

#[test]
fn rendezvous() {
    let (send, receive) = mpsc::sync_channel(0);
    let sender = thread::spawn(move || (0..2).for_each(|number| send.send(vec![number]).unwrap()));
    assert_eq!(receive.recv().unwrap(), [0]);
    assert_eq!(receive.recv().unwrap(), [1]);
    sender.join().unwrap();
}

#[test]
fn looks() {
    let (send, receive) = mpsc::channel();
    let sender = thread::spawn(move || send.send(5).unwrap());
    let found = loop {
        match receive.try_recv() {
            Ok(found) => break found,
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => panic!("nothing came"),
        }
    };
    assert_eq!(found, 5);
    sender.join().unwrap();
}

#[test]
fn waits_for_a_while() {
    let (send, receive) = mpsc::channel();
    let sender = thread::spawn(move || send.send(5).unwrap());
    match receive.recv_timeout(SHORT) {
        Ok(found) => assert_eq!(found, 5),
        Err(error) => assert_eq!(error, RecvTimeoutError::Timeout),
    }
    sender.join().unwrap();
}

#[test]
fn full() {
    let (send, receive) = mpsc::sync_channel(1);
    let sender = thread::spawn(move || {
        (0..3).filter(|&number| matches!(send.try_send(number), Err(TrySendError::Full(_)))).count()
    });
    let received = receive.iter().count();
    assert_eq!(sender.join().unwrap() + received, 3);
}

#[test]
fn receiver_goes_first() {
    let (send, receive) = mpsc::channel();
    let sender = thread::spawn(move || (0..4).filter(|&number| send.send(vec![number]).is_err()).count());
    let _ = receive.recv();
    drop(receive);
    assert!(sender.join().unwrap() <= 4);
}

#[test]
fn unread_messages_are_dropped() {
    let (send, receive) = mpsc::channel();
    let sender = thread::spawn(move || (0..3).for_each(|_| _ = send.send(Arc::new(String::from("left")))));
    sender.join().unwrap();
    drop(receive);
}

#[test]
fn shared_receiver() {
    let (send, receive) = mpsc::channel();
    let receive = Mutex::new(receive);
    let sum: i32 = thread::scope(|scope| {
        let workers = [0; 2].map(|_| {
            scope.spawn(|| {
                let mut sum = 0;
                while let Ok(number) = { receive.lock().unwrap().recv() } {
                    let number: Box<i32> = number;
                    sum += *number;
                }
                sum
            })
        });
        (0..4).for_each(|number| send.send(Box::new(number)).unwrap());
        drop(send);
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(sum, 6);
}

#[test]
fn answers() {
    let (ask, asked) = mpsc::channel::<(i32, mpsc::Sender<i32>)>();
    let server = thread::spawn(move || asked.iter().for_each(|(number, answer)| answer.send(number * 2).unwrap()));
    let clients: Vec<_> = (0..2)
        .map(|number| {
            let ask = ask.clone();
            thread::spawn(move || {
                let (answer, answered) = mpsc::channel();
                ask.send((number, answer)).unwrap();
                assert_eq!(answered.recv().unwrap(), number * 2);
            })
        })
        .collect();
    drop(ask);
    clients.into_iter().for_each(|client| client.join().unwrap());
    server.join().unwrap();
}

#[test]
fn pipeline() {
    let (first, second) = mpsc::channel();
    let (third, last) = mpsc::sync_channel(2);
    let middle = thread::spawn(move || second.iter().for_each(|text: String| third.send(text + "!").unwrap()));
    ["a", "b", "c"].iter().for_each(|text| first.send((*text).to_owned()).unwrap());
    drop(first);
    assert_eq!(last.iter().collect::<String>(), "a!b!c!");
    middle.join().unwrap();
}

#[test]
fn jobs() {
    type Job = Box<dyn FnOnce() -> i32 + Send>;
    let (send, receive) = mpsc::channel::<Job>();
    let worker = thread::spawn(move || receive.iter().map(|job| job()).sum::<i32>());
    for number in 0..3 {
        send.send(Box::new(move || number)).unwrap();
    }
    drop(send);
    assert_eq!(worker.join().unwrap(), 3);
}

#[test]
fn with_a_condition_variable() {
    let (send, receive) = mpsc::channel::<Vec<u8>>();
    let done = Arc::new((Mutex::new(0u32), Condvar::new()));
    let threads: Vec<_> = (0..3u8)
        .map(|thread| {
            let (send, done) = (send.clone(), Arc::clone(&done));
            thread::spawn(move || {
                (0..3).for_each(|item| send.send(vec![thread, item]).unwrap());
                *done.0.lock().unwrap() += 1;
                done.1.notify_all();
            })
        })
        .collect();
    drop(send);
    assert_eq!(receive.iter().map(|message| message.len()).sum::<usize>(), 18);
    let mut count = done.0.lock().unwrap();
    while *count < 3 {
        count = done.1.wait(count).unwrap();
    }
    drop(count);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
