//! Calls: which have to come before which, and what a call that goes ahead leaves undone.

use reweave_trace::{EventId, Op};

use super::Audit;
use crate::exact::encode::Point;
use crate::exact::solver::Solver;
use crate::verdict::Demand;

impl<S: Solver> Audit<'_, '_, S> {
    pub(super) fn follows_calls(&mut self, point: Point) {
        let call = point.event();
        let links = &self.code.prepared.links;
        let before = match self.ahead == Some(call) {
            true => links.firmly_before(call),
            false => links.calls_before(call),
        };
        for &earlier in before {
            self.comes_after(point, earlier, Demand::Called { call, earlier });
        }
    }

    /// After a call that went ahead no other runs on its objects, and its thread stops unless it is void.
    pub(super) fn goes_on_after_ahead(&mut self, event: EventId) {
        let Some(ahead) = self.ahead.filter(|&ahead| ahead != event && self.has_run(ahead)) else { return };
        let (trace, links) = (self.code.prepared.trace, &self.code.prepared.links);
        let demand = Demand::Called { call: event, earlier: ahead };
        let void = links.call(ahead).is_some_and(|link| link.void);
        let point = Point::Run(event);
        if !void && trace.thread(ahead) == trace.thread(event) {
            self.broken = true;
            let runs = self.code.runs(event);
            self.code.rule(&[(!runs).into()], demand);
        } else if let (Op::Call(one), Op::Call(other)) = (trace.op(event), trace.op(ahead))
            && links.call_objects().meet(one, other)
        {
            self.broken = true;
            let (runs, went) = (self.code.runs(event), self.code.runs(ahead));
            let earlier = self.code.before(point, Point::Run(ahead));
            self.code.rule(&[(!runs).into(), (!went).into(), earlier], demand);
        }
    }
}
