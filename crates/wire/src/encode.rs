//! The encoder: events in, blocks out.

mod batch;

use core::hint::select_unpredictable;

use crate::chunk::{Chunk, ChunkKind, Codec};
use crate::control::{self, Control, MANY_HITS};
use crate::group::{GROUP, Group};
use crate::lane::{LANES, Lane, Lanes};
use crate::name::{Name, NameEncoder};
use crate::plan::Plan;
use crate::predict::{Predictor, START, Thread};
use crate::value::{Value, ValueEncoder};
use crate::varint::{self, zigzag};
use crate::{Crc, MAX_EVENTS, MAX_NAMES, Op, SPACES, Space};

pub use batch::Batch;

/// One event, with ids that the encoder gave out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The thread.
    pub thread: u32,
    /// The operation.
    pub op: Op,
    /// Its target; ignored where it has none.
    pub target: u32,
    /// The site.
    pub site: u32,
    /// What a read or update observed.
    pub read: Value,
    /// What a write or update left.
    pub written: Value,
}

/// The block has no room: close it and try again. A name for which an empty block has no room never fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

/// The size of a block that was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Closed {
    /// The length of its payload.
    pub payload: u32,
    /// Its number of events.
    pub events: u32,
}

/// Encodes events into blocks, in a buffer of the caller's.
#[derive(Debug)]
pub struct Encoder<B> {
    lanes: Lanes<B>,
    name_encoder: NameEncoder,
    predictor: Predictor,
    values: ValueEncoder,
    plan: Plan,
    group: Group,
    /// Whether a packed group had a value.
    valued: bool,
    /// How many names each space had when the block began, and has now.
    base: [u32; SPACES],
    defined: [u32; SPACES],
    first_event: u64,
    events: usize,
    names: usize,
    /// How many more events fit for certain.
    room: usize,
    hits: u32,
    thread: u32,
    state: Thread,
    /// The length of the thread's run; 0 only before the first event.
    run: u64,
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Encoder<B> {
    /// An encoder with no events. With a buffer below [`crate::MIN_BUFFER_BYTES`] it is always full.
    pub fn new(buffer: B) -> Encoder<B> {
        Encoder {
            lanes: Lanes::new(buffer),
            name_encoder: NameEncoder::new(),
            predictor: Predictor::new(),
            values: ValueEncoder::new(),
            plan: Plan::default(),
            group: Group::new(),
            valued: false,
            base: [0; SPACES],
            defined: [0; SPACES],
            first_event: 0,
            events: 0,
            names: 0,
            room: 0,
            hits: 0,
            thread: 0,
            state: START,
            run: 0,
        }
    }

    /// From the next block on, or from this one if it has no event yet, stores events by `codec`; without one, by what
    /// turns out to be shorter. Packing takes the same short time for whatever events.
    pub fn choose(&mut self, codec: Option<Codec>) {
        self.plan.fix(codec);
        if self.events == 0 {
            self.begin_events();
        }
    }

    /// Gives the next id of `space` to the name `text`. Defining a name again gives it one more id.
    pub fn define(&mut self, space: Space, text: &[u8]) -> Result<u32, Full> {
        self.define_name(space, &Name::text(text))
    }

    /// Gives the next id of `space` to a name that is a number, such as an address.
    #[inline]
    pub fn define_number(&mut self, space: Space, number: u64) -> Result<u32, Full> {
        let id = self.defined[space as usize];
        // What only makes a run or group longer takes no look at the room there is.
        if self.names < MAX_NAMES && id < u32::MAX && self.name_encoder.put_next(space, number) {
            self.defined[space as usize] = id + 1;
            self.names += 1;
            return Ok(id);
        }
        self.define_name(space, &Name::number(number))
    }

    fn define_name(&mut self, space: Space, name: &Name<'_>) -> Result<u32, Full> {
        let id = self.defined[space as usize];
        if self.names >= MAX_NAMES || self.lanes.room_for_names() < self.name_encoder.bound(name) {
            return Err(Full);
        }
        self.defined[space as usize] = id.checked_add(1).ok_or(Full)?;
        self.names += 1;
        self.name_encoder.put(&mut self.lanes, space, name);
        self.name_encoder.set_room(self.lanes.room_for_names());
        Ok(id)
    }

    /// Adds an event.
    #[inline]
    pub fn event(&mut self, event: &Event) -> Result<(), Full> {
        if self.room == 0 {
            self.make_room()?;
        }
        self.room -= 1;
        self.events += 1;
        if self.plan.groups() {
            self.group.push(event);
            if self.plan.packs() {
                return Ok(());
            }
        }
        self.predict(event);
        Ok(())
    }

    /// Finds out how many events fit for certain, and what becomes of the group that is full.
    #[cold]
    fn make_room(&mut self) -> Result<(), Full> {
        let room = if self.plan.packs() {
            self.end_group();
            if self.lanes.has_room_for_group() { GROUP } else { 0 }
        } else {
            let (room, bytes, group) = (self.lanes.room(), self.lanes.event_bytes(), &mut self.group);
            let watched = self.plan.groups();
            let planned = self.plan.room(self.events, bytes, || {
                let bytes = group.bytes();
                group.clear();
                bytes
            });
            if !watched {
                group.begin(self.predictor.fresh);
            }
            room.min(planned)
        };
        self.room = room.min(MAX_EVENTS - self.events);
        if self.room == 0 { Err(Full) } else { Ok(()) }
    }

    fn end_group(&mut self) {
        if self.group.len() > 0 {
            self.valued |= self.group.write(&mut self.lanes);
        }
    }

    #[inline]
    fn predict(&mut self, event: &Event) {
        self.switch(event.thread);
        self.put(event);
        if event.op.carries_read() {
            self.values.put(&mut self.lanes, event.target, event.site, false, event.read);
        }
        if event.op.carries_written() {
            self.values.put(&mut self.lanes, event.target, event.site, true, event.written);
        }
    }

    #[inline]
    fn switch(&mut self, thread: u32) {
        if thread != self.thread || self.run == 0 {
            self.end_run();
            self.predictor.suspend(self.thread, self.state);
            self.thread = thread;
            self.state = self.predictor.resume(thread);
        }
        self.run += 1;
    }

    /// A run is its thread and up to seven events in one number, and the rest of the events in another.
    fn end_run(&mut self) {
        if let Some(more) = self.run.checked_sub(1) {
            self.run = 0;
            self.lanes.number(Lane::Threads, u64::from(self.thread) << 3 | more.min(7));
            if let Some(rest) = more.checked_sub(7) {
                self.lanes.number(Lane::Threads, rest);
            }
        }
    }

    #[inline]
    fn put(&mut self, event: &Event) {
        let new = self.predictor.go_new(&mut self.state, event.op, event.target, event.site);
        let [site, op, target] = match new {
            Some((op, target, code)) => {
                if target == control::target::GIVEN {
                    self.lanes.number(Lane::Targets, u64::from(code));
                }
                [control::site::FIRST, op, target]
            }
            None => self.put_fields(event),
        };
        let missed = site | op | target != 0;
        if missed & (self.hits >= MANY_HITS) {
            self.control(site, op, target);
            return;
        }
        let control = Control { hits: self.hits.min(MANY_HITS) as u8, site, op, target };
        self.lanes.byte_if(Lane::Control, missed, control.byte());
        self.hits = select_unpredictable(missed, 0, self.hits + 1);
    }

    /// Writes what is not predicted of the site, operation and target; says how each is found.
    #[inline]
    fn put_fields(&mut self, event: &Event) -> [u8; 3] {
        let [first, second] = self.predictor.sites(&self.state);
        let site = match event.site {
            site if site == first => control::site::FIRST,
            site if site == second => control::site::SECOND,
            site if site == self.predictor.fresh(Space::Site) => control::site::FRESH,
            site => {
                self.lanes.number(Lane::Sites, zigzag(i64::from(site) - i64::from(self.state.site)));
                control::site::GIVEN
            }
        };
        let arrival = self.predictor.arrive(&mut self.state, event.site);
        // Which way it is, is hard to foresee; so as little as possible depends on it.
        let mut op = event.op as u8 ^ arrival.op as u8;
        if op > control::op::PARTNER {
            self.lanes.byte(Lane::Ops, event.op as u8);
            op = control::op::GIVEN;
        }
        let (mut target, mut id) = (control::target::GUESSED, 0);
        if let Some(space) = event.op.space() {
            let targets = self.predictor.targets(&self.state, arrival, event.op, space);
            id = event.target;
            target =
                select_unpredictable(id == targets.other, control::target::OTHER, control::target::GIVEN);
            target = select_unpredictable(id == targets.last, control::target::LAST, target);
            target = select_unpredictable(id == targets.guess, control::target::GUESSED, target);
            if target == control::target::GIVEN {
                self.lanes.number(Lane::Targets, targets.code(id));
            }
        }
        self.predictor.learn(&mut self.state, arrival, event.op, id);
        [site, op, target]
    }

    #[inline]
    fn control(&mut self, site: u8, op: u8, target: u8) {
        let hits = self.hits.min(MANY_HITS);
        if hits == MANY_HITS {
            self.lanes.number(Lane::Hits, u64::from(self.hits - MANY_HITS));
        }
        self.hits = 0;
        self.lanes.byte(Lane::Control, Control { hits: hits as u8, site, op, target }.byte());
    }

    /// How many events the block has.
    pub fn events(&self) -> usize {
        self.events
    }

    /// How many names the block has.
    pub fn names(&self) -> usize {
        self.names
    }

    /// How many names each space has.
    pub fn defined(&self) -> &[u32; SPACES] {
        &self.defined
    }

    /// How many events there are, those of earlier blocks included.
    pub fn total_events(&self) -> u64 {
        self.first_event + self.events as u64
    }

    /// Writes what is left to write to the streams.
    fn end_streams(&mut self) -> Codec {
        self.name_encoder.flush(&mut self.lanes);
        if self.plan.packs() {
            self.end_group();
            if !self.valued {
                self.lanes.drop_lane(Lane::Values);
            }
            return Codec::Packed;
        }
        self.end_run();
        if self.hits > 0 {
            self.control(control::site::FIRST, control::op::GUESSED, control::target::GUESSED);
        }
        Codec::Predicted
    }

    /// Writes the block to `sink` piece by piece and begins the next one.
    pub fn close(&mut self, sink: &mut impl FnMut(&[u8])) -> Closed {
        let codec = self.end_streams();

        let mut lengths = [0; (SPACES + LANES) * varint::MAX_BYTES];
        let mut at = 0;
        let lanes = self.lanes.each();
        for number in
            self.base.iter().map(|&id| u64::from(id)).chain(lanes.iter().map(|lane| lane.len() as u64))
        {
            let (bytes, length) = varint::encode(number);
            lengths[at..at + length].copy_from_slice(&bytes[..length]);
            at += length;
        }
        let lengths = &lengths[..at];
        let mut crc = Crc::default();
        crc.add(lengths);
        lanes.iter().for_each(|lane| crc.add(lane));
        let payload = (at + lanes.iter().map(|lane| lane.len()).sum::<usize>()) as u32;
        let head = Chunk {
            kind: ChunkKind::Block,
            codec: codec as u8,
            payload,
            events: self.events as u32,
            names: self.names() as u32,
            first_event: self.first_event,
            payload_crc: crc.value(),
        };
        sink(&head.encode());
        sink(lengths);
        lanes.iter().for_each(|lane| sink(lane));
        let closed = Closed { payload, events: self.events as u32 };
        self.begin();
        closed
    }

    fn begin(&mut self) {
        self.plan.ended(self.events, self.lanes.event_bytes());
        self.first_event += self.events as u64;
        self.events = 0;
        self.room = 0;
        self.base = self.defined;
        self.lanes.clear();
        self.name_encoder.clear();
        self.names = 0;
        self.begin_events();
    }

    fn begin_events(&mut self) {
        self.room = 0;
        self.group.begin(self.base);
        self.valued = false;
        self.plan.next();
        if !self.plan.packs() {
            self.values.clear();
            self.predictor.reset(self.base);
        }
        self.state = START;
        self.thread = 0;
    }
}
