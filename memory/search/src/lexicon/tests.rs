//! The lexicon's record of a word.

use super::*;

#[test]
fn a_stop_word_can_share_its_term_with_an_ordinary_word() {
    let mut lexicon = Lexicon::default();
    for _ in 0..2 {
        let (stop, other) = (lexicon.word("being"), lexicon.word("beings"));
        assert_eq!(stop.number, other.number);
        assert!(stop.stop && !other.stop);
    }
}

#[test]
fn words_of_every_length_get_their_own_number() {
    let mut lexicon = Lexicon::default();
    let words: Vec<String> = (1..40).map(|length| "7".repeat(length)).collect();
    let numbers = |lexicon: &mut Lexicon| -> Vec<u32> {
        words.iter().map(|word| lexicon.word(word).number).collect()
    };
    let first = numbers(&mut lexicon);
    assert_eq!(first, (0..39).collect::<Vec<_>>());
    assert_eq!(numbers(&mut lexicon), first);
}

#[test]
fn short_words_survive_packing() {
    let letters = "abcdefghijklmnopqrstuvwxyz";
    let unpacked = |packed: u128| {
        let bytes = packed.to_le_bytes();
        String::from_utf8(bytes[..usize::from(bytes[SHORT])].to_vec()).unwrap()
    };
    for length in 0..=SHORT {
        for start in 0..=letters.len() - length {
            let word = &letters[start..start + length];
            assert_eq!(pack(word).map(unpacked).as_deref(), Some(word));
        }
    }
    assert_eq!(pack("\0"), Some(1 << 120), "a zero byte is told from none");
    assert_eq!(pack(&letters[..=SHORT]), None);
}
