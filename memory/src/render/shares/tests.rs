//! The laws of shares.

use proptest::prelude::*;

use super::*;

/// Returns items of one share with these sizes in tokens; titles take ten at most.
fn sizes(tokens: &[usize]) -> Vec<Size> {
    let room = |tokens: usize| Room { chars: tokens * 4, tokens };
    let size = |tokens: &usize| Size { full: room(*tokens), title: room((*tokens).min(10)) };
    tokens.iter().map(size).collect()
}

fn divided(of: &[(Share, Vec<usize>)], room: usize) -> Vec<(Share, Vec<Allotment>)> {
    let shares: Vec<Share> =
        of.iter().flat_map(|(share, tokens)| tokens.iter().map(|_| *share)).collect();
    let all: Vec<Size> = of.iter().flat_map(|(_, tokens)| sizes(tokens)).collect();
    let items = Items { shares: &shares, size: &|at| all[at], always: Vec::new(), more: false };
    let room = Room { chars: room * 4, tokens: room };
    let mut given = divide(&items, room).into_iter();
    of.iter().map(|(share, tokens)| (*share, given.by_ref().take(tokens.len()).collect())).collect()
}

fn full(given: &[Allotment]) -> usize {
    given.iter().filter(|given| given.shown == Shown::Full).count()
}

fn any_shares() -> impl Strategy<Value = Vec<(Share, Vec<usize>)>> {
    let tokens = || prop::collection::vec(12_usize..120, 0..40);
    prop::collection::vec(tokens(), Share::ALL.len())
        .prop_map(|tokens| Share::ALL.into_iter().zip(tokens).collect())
}

proptest! {
    #[test]
    fn nothing_displaces_a_share_within_its_own_weight(
        of in any_shares(), more in any_shares(), room in 400_usize..4_000,
    ) {
        let mut crowded = of.clone();
        for ((_, tokens), (_, added)) in crowded.iter_mut().zip(&more) {
            // The original items come first, since added ones are wanted less.
            tokens.extend(added.iter().cycle().take(added.len() * 5));
        }
        let largest = crowded.iter().flat_map(|(_, tokens)| tokens).max().copied().unwrap_or(0);
        let for_full = room * FULL_PERCENT / 100;
        for (at, (share, tokens)) in of.iter().enumerate() {
            // The other shares grow, and only this one stays the same.
            let mut others = crowded.clone();
            others[at].1.clone_from(tokens);
            let given = &divided(&others, room)[at].1;
            let percent = usize::try_from(share.percent()).unwrap();
            let own = for_full.saturating_sub(largest) * percent / 100;
            let mut taken = 0;
            let within = tokens.iter().take_while(|tokens| { taken += **tokens; taken <= own }).count();
            prop_assert!(full(given) >= within, "{share:?}: {} of {within}", full(given));
        }
    }

    #[test]
    fn doubling_the_room_keeps_everything_in_full(of in any_shares(), room in 100_usize..3_000) {
        for ((share, one), (_, twice)) in divided(&of, room).iter().zip(divided(&of, room * 2)) {
            for (before, after) in one.iter().zip(&twice) {
                let kept = before.shown != Shown::Full || after.shown == Shown::Full;
                prop_assert!(kept, "{share:?} lost {before:?}");
            }
        }
    }

    #[test]
    fn the_budget_is_used_and_never_exceeded(of in any_shares(), room in 100_usize..6_000) {
        let given: Vec<Allotment> = divided(&of, room).into_iter().flat_map(|(_, given)| given).collect();
        let taken: usize = given.iter().map(|given| given.takes.tokens).sum();
        let there: usize = of.iter().flat_map(|(_, tokens)| tokens).sum();
        prop_assert!(taken <= room, "{taken} of {room}");
        prop_assert!(taken * 100 >= room.min(there) * 90, "{taken} of {room}, {there} there");
    }

    #[test]
    fn within_a_share_higher_ranked_items_are_shown_in_full_first(of in any_shares(), room in 100_usize..3_000) {
        for (share, given) in divided(&of, room) {
            let fulls: Vec<bool> = given.iter().map(|given| given.shown == Shown::Full).collect();
            prop_assert!(fulls.is_sorted_by(|a, b| a >= b), "{share:?} {fulls:?}");
        }
    }
}

#[test]
fn unused_weight_goes_to_the_others() {
    let notes = vec![30; 100];
    let alone = divided(&[(Share::Facts, notes.clone())], 1_000);
    assert!(full(&alone[0].1) > 25, "{}", full(&alone[0].1));
    let beside = divided(&[(Share::Settled, vec![30; 100]), (Share::Facts, notes)], 1_000);
    let (settled, facts) = (full(&beside[0].1), full(&beside[1].1));
    assert!(settled > facts && facts * 43 / 22 + 2 >= settled, "{settled} and {facts}");
}
