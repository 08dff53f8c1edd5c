//! Text to the words it is matched by: lower case, light English stems, pairs of Han characters, no filler.

/// Most characters of a text that are looked at.
const CHARS_MAX: usize = 2_000;
/// Most words of a text that count.
const WORDS_MAX: usize = 256;

/// Splits text for the ranking library; stateless.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Words;

impl bm25::Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        split(text)
    }
}

/// Function words and the vocabulary of asking: they say that something is wanted, not what.
const FILLER: &str = "a about again all am an and any anyone are as at be been but by can cannot could current currently \
    did do does doing don done find for from gave get give given go going had has have having hello help here hey hi how \
    i if in into is it its just know last latest let like list look make many may me might more most much must my need \
    new not now of off ok on one or our out over please recent recently right s said same say see shall she he show \
    should so some still such t take tell than thank thanks that the their them then there these they thing this those \
    to today tomorrow too under up us use very want was we were what when where which who whom whose why will with \
    would you your yesterday yet";

/// The same in Chinese, longest first so that a phrase goes before its parts.
const HAN_FILLER: [&str; 64] = [
    "能不能",
    "可不可以",
    "有没有",
    "怎么样",
    "怎样",
    "怎么",
    "为什么",
    "什么样",
    "什么",
    "哪一个",
    "哪些",
    "哪个",
    "哪里",
    "多少",
    "几个",
    "谁",
    "如何",
    "是否",
    "可以",
    "能够",
    "告诉",
    "帮我",
    "帮忙",
    "给我",
    "请问",
    "请",
    "想要",
    "想",
    "知道",
    "看看",
    "看一下",
    "一下",
    "现在",
    "目前",
    "当前",
    "今天",
    "昨天",
    "明天",
    "最近",
    "这个",
    "那个",
    "这些",
    "那些",
    "我们",
    "你们",
    "他们",
    "的",
    "了",
    "吗",
    "呢",
    "吧",
    "啊",
    "是",
    "在",
    "有",
    "和",
    "与",
    "或",
    "我",
    "你",
    "他",
    "都",
    "也",
    "把",
];

/// The words of `text` in order, repeats included.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut han = String::new();
    for c in text.chars().take(CHARS_MAX).flat_map(char::to_lowercase) {
        if is_han(c) {
            take_word(&mut word, &mut words);
            han.push(c);
        } else if c.is_alphanumeric() {
            take_han(&mut han, &mut words);
            word.push(c);
        } else if c != '\'' && c != '’' {
            take_word(&mut word, &mut words);
            take_han(&mut han, &mut words);
        } else {
            take_word(&mut word, &mut words);
        }
    }
    take_word(&mut word, &mut words);
    take_han(&mut han, &mut words);
    words.truncate(WORDS_MAX);
    words
}

fn take_word(word: &mut String, words: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    if !FILLER.split_ascii_whitespace().any(|filler| filler == word) {
        words.push(stem(word).to_owned());
    }
    word.clear();
}

/// A run of Han characters has no spaces: filler is cut out, and what is left is read as overlapping pairs.
fn take_han(run: &mut String, words: &mut Vec<String>) {
    if run.is_empty() {
        return;
    }
    let mut rest = run.as_str();
    let mut piece: Vec<char> = Vec::new();
    while let Some(first) = rest.chars().next() {
        if let Some(filler) = HAN_FILLER.iter().find(|filler| rest.starts_with(**filler)) {
            take_pairs(&mut piece, words);
            rest = &rest[filler.len()..];
        } else {
            piece.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    take_pairs(&mut piece, words);
    run.clear();
}

fn take_pairs(piece: &mut Vec<char>, words: &mut Vec<String>) {
    if let [only] = piece.as_slice() {
        words.push(only.to_string());
    }
    words.extend(piece.windows(2).map(|pair| pair.iter().collect::<String>()));
    piece.clear();
}

/// Han ideographs with their extensions, kana and hangul: scripts written without spaces or read well in pairs.
fn is_han(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Cuts the commonest English endings, so that `sectors moving` meets `sector move`. Crude on purpose: a rare wrong
/// stem is the same wrong stem on both sides.
fn stem(word: &str) -> &str {
    if !word.is_ascii() || word.len() < 4 {
        return word;
    }
    let one = singular(word);
    let verb = ["ment", "ing", "ed", "er"].into_iter().find_map(|ending| long_enough(one, ending));
    let root = verb.map_or(one, undouble);
    ["e", "y", "i"].into_iter().find_map(|ending| long_enough(root, ending)).unwrap_or(root)
}

fn singular(word: &str) -> &str {
    if word.ends_with("ies") {
        return long_enough(word, "es").unwrap_or(word);
    }
    for hissing in ["ches", "shes", "sses", "xes", "zes"] {
        if word.ends_with(hissing) {
            return long_enough(word, "es").unwrap_or(word);
        }
    }
    long_enough(word, "s").filter(|root| !root.ends_with(['s', 'u', 'i'])).unwrap_or(word)
}

/// The word without the ending, when at least three letters are left.
fn long_enough<'a>(word: &'a str, ending: &str) -> Option<&'a str> {
    word.strip_suffix(ending).filter(|root| root.len() >= 3)
}

/// `running` → `runn` → `run`; `selling` keeps its `ll`.
fn undouble(root: &str) -> &str {
    match root.as_bytes() {
        [_, _, .., a, b] if a == b && !matches!(b, b'l' | b's' | b'e' | b'o') => &root[..root.len() - 1],
        _ => root,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_of_one_word_meet_in_one_stem() {
        for family in [
            &["move", "moves", "moved", "moving", "movement", "movements", "mover", "movers"][..],
            &["sector", "sectors"],
            &["customer", "customers"],
            &["interface", "interfaces"],
            &["reach", "reached", "reaching", "reaches"],
            &["running", "run", "runs"],
            &["capability", "capabilities"],
            &["company", "companies"],
        ] {
            let stems: Vec<_> = family.iter().map(|word| split(word)).collect();
            assert!(stems.iter().all(|s| s.len() == 1 && *s == stems[0]), "{family:?}: {stems:?}");
        }
        for short in ["dns", "cpu", "bus", "status", "address"] {
            assert_eq!(split(short), [short]);
        }
    }

    #[test]
    fn filler_goes_and_content_stays() {
        assert_eq!(split("What's the state of my network, please?"), split("state network"));
        assert_eq!(split("how are you"), [""; 0]);
        assert_eq!(split("今天板块怎么样？"), ["板块"]);
        assert_eq!(split("请告诉我网络状态"), ["网络", "络状", "状态"]);
        assert_eq!(split("CPU负载"), ["cpu", "负载"]);
    }

    #[test]
    fn a_huge_text_is_read_only_so_far() {
        assert_eq!(split(&"word ".repeat(1_000_000)).len(), WORDS_MAX);
    }
}
