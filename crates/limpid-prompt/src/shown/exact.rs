//! Text as somebody is shown it who says yes to it: no two texts look alike. What a question shows is what is sent, so a secret must not
//! be spelled by which of two letters stands there that are drawn the same. What stays is a list of what people write, and of what is drawn
//! alike one: the letter of the script of its word, the spelling of Unicode's form C, the sign that the text has most often.

mod kana;
mod numbers;
mod scripts;
mod signs;
mod spelling;
mod twins;
mod words;

use std::borrow::Cow;

use super::shown;

/// The text with everything written out that [`shown`] writes out, and what looks like something else: letters of another script or in
/// another spelling, blanks, signs that are drawn as others, numbers that words from right to left turn around.
pub fn exact(text: &str) -> Cow<'_, str> {
    let letters: Vec<char> = text.chars().collect();
    let mut odd = odd(&letters);
    numbers::mark(&letters, &mut odd);
    with_odd_written_out(text, letters, &odd)
}

/// The same for what shows words from right to left [`isolated`](super::isolated): these turn no number around, so it stays.
pub fn exact_to_isolate(text: &str) -> Cow<'_, str> {
    let letters: Vec<char> = text.chars().collect();
    let odd = odd(&letters);
    with_odd_written_out(text, letters, &odd)
}

fn with_odd_written_out<'t>(text: &'t str, letters: Vec<char>, odd: &[bool]) -> Cow<'t, str> {
    if !odd.contains(&true) {
        return shown(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (letter, is_odd) in letters.into_iter().zip(odd) {
        match *is_odd {
            true => out.extend(letter.escape_unicode()),
            false => out.push(letter),
        }
    }
    Cow::Owned(shown(&out).into_owned())
}

/// JSON with the same letters written as it writes letters, so that it stays the same value.
pub fn exact_json(json: &str) -> String {
    let letters: Vec<char> = json.chars().collect();
    let mut odd = odd(&letters);
    numbers::mark(&letters, &mut odd);
    let (mut out, mut is_in_text, mut at) = (String::with_capacity(json.len() + 16), false, 0);
    while at < letters.len() {
        // What is written so already stays as it is.
        let escaped = match letters[at..] {
            ['\\', 'u', ..] => 6,
            ['\\', _, ..] => 2,
            _ => 0,
        };
        if escaped > 0 {
            out.extend(&letters[at..(at + escaped).min(letters.len())]);
            at += escaped;
            continue;
        }
        is_in_text ^= letters[at] == '"';
        // Programs that show JSON in a page draw several blanks as one.
        let is_next_blank = letters[at] == ' ' && at > 0 && letters[at - 1] == ' ';
        match (odd[at] || is_next_blank) && (is_in_text || !letters[at].is_ascii()) && letters[at] != '"' {
            true => out.extend(letters[at].encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
            false => out.push(letters[at]),
        }
        at += 1;
    }
    super::shown_json(&out).into_owned()
}

/// Which letters are to be written out by what they look like.
fn odd(letters: &[char]) -> Vec<bool> {
    let mut odd = vec![false; letters.len()];
    // As the sign that is written out begins, so that a text which has these letters is another picture.
    for (at, _) in letters.array_windows().enumerate().filter(|(_, three)| **three == ['\\', 'u', '{']) {
        odd[at] = true;
    }
    signs::mark(letters, &mut odd);
    if !letters.iter().all(char::is_ascii) {
        words::mark(letters, &mut odd);
        spelling::mark(letters, &mut odd);
        twins::mark(letters, &mut odd);
        kana::mark(letters, &mut odd);
        scripts::mark(letters, &mut odd);
    }
    odd
}

/// The same on one line: line ends and tabs are written out too.
pub fn exact_line(text: &str) -> String {
    on_one_line(&exact(text))
}

/// As [`exact_to_isolate`], on one line.
pub fn exact_line_to_isolate(text: &str) -> String {
    on_one_line(&exact_to_isolate(text))
}

fn on_one_line(exact: &str) -> String {
    exact.replace('\n', "\\u{a}").replace('\t', "\\u{9}")
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-060 SEC-077
    #[test]
    fn what_people_write_in_many_languages_stays_as_it_is() {
        for text in [
            "plain words",
            "schöne Grüße, wir hören dich gern: „fröhlich“ – mögen; 20 °C, 5 µm, 3 × 4 m², § 5. Im Frühjahr kostet’s 3,50 €…",
            "Noël, naïf, l’été à Besançon : « ça va ? » Œuvre, cœur, où — j’ai ½ baguette, n° 3",
            "¡Hola! ¿Qué tal, señor? Işık ılık, şişe. Łódź, żółć. Říše, kůň. Xin chào, tiếng Việt rất khó: ẳng, ữ, ợ. Þórður",
            "“We’re here” – he said… • 5 °C, 3 €",
            "Καλημέρα, πώς είσαι; Ο καφές και το νερό κοστίζουν 3,50 €. «Ναι», είπε ο Γιώργος. Θέλω θάλασσα",
            "Привет, мама и папа! Это о нас: я и он, а у неё USB-кабель. В 3 часа — объём. № 5, ул. Ленина, д. 5.",
            "Українська: їжак, п’ять, Київ. Српски: ђак, љубав. Қазақ: әріп, ңұсқа, ү, ө, һ. Монгол: Өнөөдөр үүлтэй, улаан үнэг",
            "明日の午後3時に「東京駅」で会いましょう！カメラの力、パリへ行く、ヘリコプター、すべて、ベルリン、二人、ニュース、もう一度、ビール",
            "らーめん、えーと、その一つ。工場、エネルギー、夕方、タクシー、カニ。（本日）：Tシャツ？\u{3000}次の段落。",
            "你好，世界！我们明天下午三点在北京见面，好吗？（请带护照。）“谢谢”——价格是¥50。《红楼梦》、一九九〇年。繁體：說話，臺灣",
            "안녕하세요, 내일 오후 3시에 서울역에서 만나요! ㅋㅋㅋ 漢字, iPhone을",
            "नमस्ते, मैं कल तीन बजे दिल्ली में मिलूँगा। ज़रूर, पढ़ाई, क्षमा, ज्ञान, श्री, ऑफ़िस, ₹500, १२३",
            "বাংলা ভাষা: কৌশল। ಸಾಫ್ಟ್\u{200c}ವೇರ್, నమస్కారం, வணக்கம், നമസ്കാരം, ਊਠ, કેમ છો? ශ්\u{200d}රී ලංකා",
            "مرحبا، كيف حالك؟ أريد أن ألتقي بك غداً على شاطئ البحر: ٥٠٠ ريال؛ إلى القاهرة، الله، مُحَمَّد",
            "سلام، می\u{200c}خواهم فردا ساعت ۳ در تهران شما را ببینم. خانهٔ ما",
            "آپ کیسے ہیں؟ بھائی، چھوٹی، ٹھیک ہے، گئے۔",
            "שלום עולם, ניפגש בתל־אביב. שָׁלוֹם",
            "สวัสดีครับ น้ำท่วม กรุงเทพฯ ទេ។ ინტერნეტი Բարեւ, ինչպե՞ս եք։",
            "👩\u{200d}🚀 and 🇩🇪 👍🏽 👨\u{200d}👩\u{200d}👧 ❤ ✅",
            "def f(x):\n    if x:  # two blanks\n        return  [1,   2]\n",
            "func f() {\n\tif x {\n\t\treturn\n\t}\n}\n/*\n * a\n */\n",
            "שלום, 3 תפוחים ו־2 אגסים.\n2 אורן (red); ברוש 3\nمرحبا 5 تفاح",
            "エラー：ホテルを予約しました。一、二、三。メモは「ノート」に。イヌとネコとヒト、ムカデ、トヨタ。くつ、丁目、児童",
            "今天合作，長久。注音：ㄓㄨ ㄧㄣ。丫頭。儿童",
            "마음 조금 쓰다, 뉘우치다. ㅡㅡ ㅋㅋ 大韓民國",
            r#"{"to":"+49301111","text":"Привет\nЯ дома\nтам \"да\" и всё"}"#,
        ] {
            assert_eq!(exact_to_isolate(text), text);
        }
    }

    // SEC-060 SEC-077
    #[test]
    fn what_looks_like_something_else_is_written_out() {
        for (text, expected) in [
            ("s\u{435}e you, s\u{43e}up and \u{441}o\u{441}o", r"s\u{435}e you, s\u{43e}up and \u{441}o\u{441}o"),
            ("we ate \u{43e}\u{441}\u{430} at six", r"we ate \u{43e}\u{441}\u{430} at six"),
            ("ada@ex\u{430}mple.com", r"ada@ex\u{430}mple.com"),
            ("Привет, мaмa", r"Привет, м\u{61}м\u{61}"),
            ("у нас peace", r"у нас \u{70}\u{65}\u{61}\u{63}\u{65}"),
            ("a\u{a0}b\u{2003}c\u{202f}d", r"a\u{a0}b\u{2003}c\u{202f}d"),
            ("u\u{302} or \u{fb}", "u\\u{302} or \u{fb}"),
            ("\u{ff41}\u{1d41a} 2\u{fe0f}\u{20e3} a\u{2010}b", r"\u{ff41}\u{1d41a} 2\u{fe0f}\u{20e3} a\u{2010}b"),
            ("\u{1b}[2J \u{202e}", r"\u{1b}[2J \u{202e}"),
        ] {
            assert_eq!(exact(text), expected, "{text:?}");
        }
    }

    /// Of two texts that are the same picture at most one is shown as it is.
    // SEC-060 SEC-077
    #[test]
    fn a_text_has_one_way_to_be_written() {
        for (text, expected) in [
            // Letters with accents of another script.
            ("schöne Gr\u{4f1}ße, h\u{4e7}ren", r"schöne Gr\u{4f1}ße, h\u{4e7}ren"),
            ("No\u{451}l, na\u{457}f", r"No\u{451}l, na\u{457}f"),
            // Twins, which form C makes one.
            ("5 \u{b5}m, 7 \u{3bc}m", "5 \u{b5}m, 7 \\u{3bc}m"),
            ("eins · zwei \u{387} drei", r"eins · zwei \u{387} drei"),
            ("άλφα \u{1f71}λφα 5 \u{2126} \u{212b} \u{f900}", r"άλφα \u{1f71}λφα 5 \u{2126} \u{212b} \u{f900}"),
            ("g\u{327} 1\u{307} i\u{307} e\u{301}\u{301}", r"g\u{327} 1\u{307} i\u{307} e\u{301}\u{301}"),
            ("ı\u{307} ı\u{301}", r"ı\u{307} ı\u{301}"),
            ("शाम को \u{905}\u{93e}ना", r"शाम को अ\u{93e}ना"),
            ("แม่ เ\u{e40}ละ", r"แม่ เ\u{e40}ละ"),
            // Letters of one script.
            ("ă ă \u{1ce}, ş ş \u{219}, Đ Đ \u{189}", r"ă ă \u{1ce}, ş ş \u{219}, Đ Đ \u{189}"),
            ("كيف في ک\u{6cc}ف", r"كيف في \u{6a9}\u{6cc}ف"),
            ("说 說 說 \u{8aac} 日日\u{66f0}", r"说 說 說 \u{8aac} 日日\u{66f0}"),
            ("В 3 часа, \u{417} часа, 1\u{41e}", r"В 3 часа, \u{417} часа, 1\u{41e}"),
            // Kana and Han.
            (
                "\u{529b}メラの力、\u{30ed}の中、パリ\u{30d8}行く、の\u{30fc}つ",
                r"\u{529b}メラの力、\u{30ed}の中、パリ\u{30d8}行く、の\u{30fc}つ",
            ),
            // Kana, Han, Bopomofo and Korean.
            ("ラ\u{3161}メン、\u{3111}つ", r"ラ\u{3161}メン、\u{3111}つ"),
            ("\u{3126}童、\u{311a}頭、\u{3112}人", r"\u{3126}童、\u{311a}頭、\u{3112}人"),
            ("\u{535f}음 \u{4e15}금 \u{4e00} 쓰다", r"\u{535f}음 \u{4e15}금 \u{4e00} 쓰다"),
            ("ㄓㄨ ㄋㄩ\u{513f}", r"ㄓㄨ ㄋㄩ\u{513f}"),
            // Indents of the kind that the text has not first.
            (
                "a:\n\tb\n        c\n\t        d",
                "a:\n\tb\n\\u{20}\\u{20}\\u{20}\\u{20}\\u{20}\\u{20}\\u{20}\\u{20}c\n\t\\u{20}\\u{20}\\u{20}\\u{20}\\u{20}\\u{20}\\u{20}\\u{20}d",
            ),
            ("a:\n        c\n\tb", "a:\n        c\n\\u{9}b"),
            // Signs.
            ("don’t won’t don\u{2bc}t don't", r"don’t won’t don\u{2bc}t don\u{27}t"),
            ("北京,上海，好", r"北京\u{2c}上海，好"),
            ("well... now…", r"well... now\u{2026}"),
            ("3 × 4, 3 x 4", r"3 \u{d7} 4, 3 x 4"),
            ("\u{1f1e9}.\u{1f1fa}\u{1f1f8}\u{1f1fa}", "\\u{1f1e9}.\u{1f1fa}\u{1f1f8}\\u{1f1fa}"),
            ("\u{1f1fa}\u{1f1f8}\u{1f1fa}\u{1f1f2}", "\u{1f1fa}\u{1f1f8}\\u{1f1fa}\\u{1f1f2}"),
            // Blanks, and what nobody sees.
            ("a\u{2800}b a\u{3000}b", r"a\u{2800}b a\u{3000}b"),
            ("東京\u{3000}大阪  京都", r"東京\u{3000}大阪  京都"),
            ("at six \nand\tseven  ", r"at six\u{20}\nand\u{9}seven\u{20}\u{20}"),
            ("\u{1bca0}a\u{1d159}b\u{16fe4}c\u{13441}", r"\u{1bca0}a\u{1d159}b\u{16fe4}c\u{13441}"),
            (
                "🍎\u{200d}🍌 क्\u{200d}त क्\u{200c} 👩\u{200d}🚀 👩🚀",
                r"🍎\u{200d}🍌 क्\u{200d}त क्\u{200c} 👩\u{200d}🚀 👩🚀",
            ),
        ] {
            assert_eq!(exact(text), expected.replace("\\nand", "\nand"), "{text:?}");
        }
    }

    // SEC-077
    #[test]
    fn what_is_written_out_is_no_picture_of_what_was_written_so() {
        for letter in ["\u{a0}", "\u{435}", "\u{1b}", "\u{5c}", "\n", "\t"] {
            let (text, spelled) = (format!("s{letter}e"), format!("s{}e", letter.escape_unicode()));
            assert_ne!(exact(&text), exact(&spelled), "{spelled}");
            assert_ne!(exact_line(&text), exact_line(&spelled), "{spelled}");
            assert_ne!(exact_line_to_isolate(&text), exact_line_to_isolate(&spelled), "{spelled}");
        }
        assert_eq!(exact(r"C:\users\u{a0}"), r"C:\users\u{5c}u{a0}");
        assert_ne!(exact_line("a\nb"), exact_line(r"a\nb"));
    }

    // SEC-060 SEC-077
    #[test]
    fn json_stays_the_same_value_and_shows_what_it_holds() {
        let values = serde_json::json!({
            "t\u{435}xt": "S\u{435}\u{435}\u{a0}you \n\"Привет\" м\u{61}м\u{61} \u{1f1fa}\u{1f1f2} \u{e9} \u{1b}", "n": 1e300, "я": [true, null, "\\"],
        });
        for json in
            [values.to_string(), serde_json::to_string_pretty(&values).unwrap(), r#"{"я": "\u00e9 \u0061"}"#.to_owned()]
        {
            let shown = exact_json(&json);
            let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
            assert_eq!(read(&shown), read(&json), "{shown}");
        }
        let shown = exact_json(&values.to_string());
        assert_eq!(exact_json("{\n  \"a\": \"b   c\\n  d\"\n}"), "{\n  \"a\": \"b \\u0020\\u0020c\\n \\u0020d\"\n}");
        assert!(
            shown.contains(r"S\u0435\u0435\u00a0you") && shown.contains("Привет") && shown.contains(r"м\u0061м"),
            "{shown}"
        );
    }

    // SEC-077
    #[test]
    fn a_text_is_gone_through_once() {
        let begun = std::time::Instant::now();
        for piece in ["… ", " ", "e\u{304}", "👩\u{200d}", "力", "\u{1f1fa}"] {
            exact(&piece.repeat(5_000));
        }
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
}
