"""The command `reweave` in gdb and lldb: where the threads of the finding are, who holds what and who waits for what."""

import json

SLEEPS = {
    "lock": "the lock {}",
    "condition": "the condition variable {}",
    "semaphore": "the semaphore {}",
    "barrier": "the barrier {}",
    "once": "the initialisation {}",
    "futex": "the futex {}",
    "end": "the end of another thread",
    "away": "something outside of the program",
    "sleep": "its time to come",
}


class Notes:
    """What the runtime wrote when the moment came."""

    def __init__(self, path):
        self.events, self.threads, self.holds, self.tasks = {}, {}, [], {}
        self.planned, self.reached = {}, False
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                lines = file.read().splitlines()
        except OSError:
            lines = []
        for line in lines:
            self.line(line.split(" "))

    def line(self, words):
        kind, numbers = words[0], [int(word) if word.isdigit() else word for word in words[1:]]
        if kind in ("stands", "did"):
            self.events[numbers[0]] = (numbers[1], numbers[2])
        elif kind == "thread":
            index, planned, doing, key = numbers[:4]
            self.threads[index] = (doing, key, numbers[4])
            self.planned[index] = planned
        elif kind == "task":
            self.tasks[numbers[0]] = numbers[1]
        elif kind == "holds":
            index, planned, at, code = numbers
            self.holds.append((index, at, code))
            self.planned[index] = planned
        elif kind == "reached":
            self.reached = True


def show(about, debugger):
    """Prints the state and chooses the thread and frame where the bug is."""
    notes = Notes(about["notes"])
    if not notes.reached:
        print("reweave: the program did not come to where the bug is; `reweave replay` without a debugger says why")
        return

    def name(index):
        planned = notes.planned.get(index, 0)
        names = about["threads"]
        known = names[planned - 1] if 0 < planned <= len(names) else f"thread {index}"
        number = debugger.number(notes.tasks.get(index, 0))
        return f"{known} (thread {number} here)" if number else known

    print(f"reweave: {about['title']}")
    for number, event in enumerate(about["events"]):
        if number in notes.events:
            index, code = notes.events[number]
            print(f"  {name(index)} {event['lead']} {event['what']}")
            # What the compiler plugin numbers is no code that a debugger knows the line of.
            print(f"      at {debugger.line(code) or event['site'] or debugger.symbol(code)}")
    for index, at, code in notes.holds:
        print(f"  {name(index)} holds {debugger.memory(at)} since {debugger.site(code)}")
    for index, (doing, key, code) in sorted(notes.threads.items()):
        if doing in SLEEPS:
            where = f", last at {debugger.site(code)}" if code else ""
            print(f"  {name(index)} waits for {SLEEPS[doing].format(debugger.memory(key))}{where}")
    chosen = notes.events.get(about["chosen"])
    if chosen and debugger.choose(notes.tasks.get(chosen[0], 0), chosen[1]):
        print(f"now in {name(chosen[0])}:")
        debugger.show_frame()


class Gdb:
    """What is asked of gdb."""

    def number(self, task):
        return next((thread.num for thread in gdb.selected_inferior().threads() if thread.ptid[1] == task), None)

    def site(self, code):
        return self.line(code) or self.symbol(code)

    def line(self, code):
        # A hook returns behind its call.
        line, block = gdb.find_pc_line(code - 1), None
        if not line.symtab:
            return None
        try:
            block = gdb.block_for_pc(code - 1)
        except RuntimeError:
            pass
        while block and not block.function:
            block = block.superblock
        function = block.function.print_name if block else self.symbol(code)
        return f"{function} {line.symtab.filename}:{line.line}"

    def symbol(self, at):
        text = gdb.execute(f"info symbol {at:#x}", to_string=True)
        return text.split(" in section")[0].replace(" + ", "+") if " in section" in text else f"{at:#x}"

    def memory(self, at):
        return self.symbol(at)

    def choose(self, task, code):
        thread = next((one for one in gdb.selected_inferior().threads() if one.ptid[1] == task), None)
        if thread is None:
            return False
        thread.switch()
        frame = known = gdb.newest_frame()
        while frame and frame.pc() != code:
            frame = frame.older()
        # The runtime has no lines: the first frame that has one is what called it.
        while not frame and known and not known.find_sal().symtab:
            known = known.older()
        if frame or known:
            (frame or known).select()
        return True

    def show_frame(self):
        gdb.execute("frame")


class Lldb:
    """What is asked of lldb."""

    def __init__(self, debugger):
        self.target = debugger.GetSelectedTarget()
        self.process = self.target.GetProcess()

    def number(self, task):
        thread = self.process.GetThreadByID(task)
        return thread.GetIndexID() if thread.IsValid() else None

    def site(self, code):
        return self.line(code) or self.symbol(code)

    def line(self, code):
        address = self.target.ResolveLoadAddress(code - 1)
        context = self.target.ResolveSymbolContextForAddress(address, lldb.eSymbolContextEverything)
        line = context.GetLineEntry()
        if not line.IsValid():
            return None
        function = context.GetBlock().GetInlinedName() or context.GetFunction().GetName() or self.symbol(code)
        return f"{function} {line.GetFileSpec().fullpath}:{line.GetLine()}"

    def symbol(self, code):
        address = self.target.ResolveLoadAddress(code - 1)
        context = self.target.ResolveSymbolContextForAddress(address, lldb.eSymbolContextEverything)
        return context.GetFunction().GetName() or context.GetSymbol().GetName() or self.memory(code)

    def memory(self, at):
        for module in self.target.modules:
            for symbol in module:
                start = symbol.GetStartAddress().GetLoadAddress(self.target)
                size = symbol.GetEndAddress().GetOffset() - symbol.GetStartAddress().GetOffset()
                if symbol.GetType() == lldb.eSymbolTypeData and start <= at < start + size:
                    return f"{symbol.GetName()}+{at - start}" if at != start else symbol.GetName()
        return f"{at:#x}"

    def choose(self, task, code):
        thread = self.process.GetThreadByID(task)
        if not thread.IsValid():
            return False
        self.process.SetSelectedThread(thread)
        exact = [number for number, frame in enumerate(thread.frames) if frame.GetPC() == code]
        known = [number for number, frame in enumerate(thread.frames) if frame.GetLineEntry().IsValid()]
        # The runtime has no lines: the first frame that has one is what called it.
        for number in (exact + known)[:1]:
            thread.SetSelectedFrame(number)
        return True

    def show_frame(self):
        print(self.process.GetSelectedThread().GetSelectedFrame())


def read():
    # The line above all says where.
    with open(ABOUT, encoding="utf-8") as file:
        return json.load(file)


def lldb_command(debugger, _command, _result, _names):
    """Shows where the bug is, and who holds what."""
    show(read(), Lldb(debugger))


def __lldb_init_module(debugger, _names):
    debugger.HandleCommand(f"command script add -f {__name__}.lldb_command reweave")


try:
    import gdb
except ImportError:
    import lldb
else:

    class Reweave(gdb.Command):
        """Show where the bug is, and who holds what."""

        def __init__(self):
            super().__init__("reweave", gdb.COMMAND_STATUS)

        def invoke(self, _argument, _from_terminal):
            show(read(), Gdb())

    Reweave()
