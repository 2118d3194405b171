//! Stable names of sites: what a site is called whatever else its file holds, and however and wherever it was built.
//!
//! The text of a site has a path and a line, which change with every edit above it. A recorder that knows the function around
//! a site gives it a second name, such as `push queue.c+4`: what identifies a finding is made of these. Nothing else looks at them.

use crate::{Error, SiteId, Table};

const NONE: u32 = u32::MAX;

/// The stable names of the sites that have one.
#[derive(Clone, Default, Debug)]
pub struct StableSites {
    names: Table,
    /// By site, the number of its name.
    of: Vec<u32>,
}

impl StableSites {
    /// Whether no site has one.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The number of a site's stable name, which sites of the same name share.
    #[inline]
    pub fn number(&self, site: SiteId) -> Option<u32> {
        self.of.get(site.index()).copied().filter(|&name| name != NONE)
    }

    /// The stable name of a site.
    pub fn get(&self, site: SiteId) -> Option<&str> {
        self.number(site).map(|name| self.names.get(name))
    }

    /// Every site that has one, in order, with its name.
    pub fn iter(&self) -> impl Iterator<Item = (SiteId, &str)> {
        (0..self.of.len()).map(SiteId::from_index).filter_map(|site| Some((site, self.get(site)?)))
    }

    /// Gives a site its name. The first that it is given stays.
    pub(crate) fn set(&mut self, site: SiteId, name: &str) -> Result<(), Error> {
        let number = self.names.intern(name)?;
        if self.of.len() <= site.index() {
            self.of.resize(site.index() + 1, NONE);
        }
        if let Some(free) = self.of.get_mut(site.index()).filter(|name| **name == NONE) {
            *free = number;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_of_a_site_stays_and_equal_names_have_one_number() {
        let mut sites = StableSites::default();
        for (site, name) in [(4, "push q.c+2"), (1, "pop q.c+2"), (4, "other"), (7, "push q.c+2")] {
            sites.set(SiteId(site), name).unwrap();
        }
        let all: Vec<_> = sites.iter().map(|(site, name)| (site.0, name)).collect();
        assert_eq!(all, [(1, "pop q.c+2"), (4, "push q.c+2"), (7, "push q.c+2")]);
        assert_eq!(sites.number(SiteId(4)), sites.number(SiteId(7)));
        assert_ne!(sites.number(SiteId(4)), sites.number(SiteId(1)));
        assert_eq!((sites.get(SiteId(0)), sites.get(SiteId(99))), (None, None));
    }
}
