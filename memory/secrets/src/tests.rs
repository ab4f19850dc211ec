//! Texts that are removed and texts that stay. Samples are assembled here, so that no file of ours
//! contains a token's form.

use proptest::prelude::*;

use super::*;

/// Returns characters like those of a generator; the same seed gives the same characters.
pub(super) fn random(alphabet: &str, length: usize, seed: u64) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap()
    };
    (0..length).map(|_| alphabet[next() % alphabet.len()]).collect()
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn alnum(length: usize) -> String {
    random(ALNUM, length, 7)
}

fn hex(length: usize) -> String {
    random(HEX, length, 3)
}

fn key_block(label: &str) -> String {
    let body: Vec<String> = (1..9).map(|line| random(ALNUM, 64, line)).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----", body.join("\n"))
}

/// Returns texts with `@` in place of the secret, the secrets, and their kinds.
fn gone() -> Vec<(&'static str, String, &'static str)> {
    vec![
        ("use @ for it", ["gh", "p_", &alnum(36)].concat(), "GitHub token"),
        ("(@)", ["github", "_pat_", &alnum(22), "_", &alnum(59)].concat(), "GitHub token"),
        (r"a\n@\n", ["gl", "pat-", &alnum(20)].concat(), "GitLab token"),
        ("id=@", ["AK", "IA", &random(UPPER, 16, 5)].concat(), "AWS key"),
        ("AWS_SECRET_ACCESS_KEY=@", random(&format!("{ALNUM}/+"), 40, 9), "secret value"),
        ("key: @,", ["AI", "za", &alnum(35)].concat(), "Google API key"),
        ("export ANTHROPIC_API_KEY=@", ["sk-", "ant-api03-", &alnum(80)].concat(), "Anthropic key"),
        ("OPENAI_API_KEY: '@'", ["sk-", "proj-", &alnum(60)].concat(), "OpenAI key"),
        ("an old one, @.", ["sk", "-", &alnum(48)].concat(), "API key"),
        ("\"@\"", ["sk_", "live_", &alnum(24)].concat(), "Stripe key"),
        ("@", ["xo", "xb-123456789012-123456789012-", &alnum(24)].concat(), "Slack token"),
        (
            "https://@",
            ["hooks.slack", ".com/services/", "T0123ABCD/B0123ABCD/", &alnum(24)].concat(),
            "Slack webhook",
        ),
        ("login with @", ["h", "f_", &alnum(34)].concat(), "Hugging Face token"),
        ("//registry/:_authToken=@", ["np", "m_", &alnum(36)].concat(), "npm token"),
        ("@", ["S", "G.", &alnum(22), ".", &random(ALNUM, 43, 2)].concat(), "SendGrid key"),
        ("@", ["dop", "_v1_", &hex(64)].concat(), "DigitalOcean token"),
        ("@", ["hv", "s.", &alnum(90)].concat(), "Vault token"),
        (
            "cookie @ ok",
            ["ey", "JhbGciOiJIUzI1NiJ9.ey", "Jzdwiojc0NTY3ODkwIn0.", &alnum(43)].concat(),
            "JSON web token",
        ),
        ("before\n@\nafter", key_block("RSA PRIVATE KEY"), "private key"),
        ("@", key_block("OPENSSH PRIVATE KEY").replace('\n', "\\n"), "private key"),
        ("cut: @", key_block("PRIVATE KEY")[..300].to_owned(), "private key"),
        ("Authorization: Bearer @", alnum(24), "authorization value"),
        ("-H 'authorization: Basic @'", "dXNlcjpodW50ZXIy".to_owned(), "authorization value"),
        ("\"Authorization\": \"token @\"", hex(40), "authorization value"),
        ("Authorization: @", hex(32), "authorization value"),
        ("it sends bearer @ each time", alnum(32), "authorization value"),
        ("postgres://app:@@db.internal:5432/main", "hunter2".to_owned(), "password in a URL"),
        ("redis://:@@cache:6379", "s3cr/et".replace('/', "_"), "password in a URL"),
        (
            "git clone https://me:@@example.com/r.git",
            "correcthorse".to_owned(),
            "password in a URL",
        ),
        ("https://@@git.example.com/r.git", alnum(30), "password in a URL"),
        ("DB_PASSWORD=@", "hunter2".to_owned(), "password"),
        ("password: \"@\"", "S3cr3t!".to_owned(), "password"),
        ("{\"password\":\"@\"}", "tr0ub4dor&3".to_owned(), "password"),
        (r#"{\"password\":\"@\"}"#, "tr0ub4dor3".to_owned(), "password"),
        ("mysql -u root --password @ main", "Winter2026".to_owned(), "password"),
        ("<password>@</password>", "pa55w0rd".to_owned(), "password"),
        ("the password is @.", "blue42fish".to_owned(), "password"),
        ("the root password was changed to @ today", "k9Vt2!x7".to_owned(), "password"),
        ("das Passwort für den Server lautet @.", "k9Vt2!x7".to_owned(), "password"),
        ("the password is: @.", "hunter2hunter2".to_owned(), "password"),
        ("Das Passwort für X ist @.", "Sommer2026".to_owned(), "password"),
        ("le mot de passe de la base est : @", "Soleil2026".to_owned(), "password"),
        ("CREATE USER app IDENTIFIED BY '@';", "plainword".to_owned(), "password"),
        ("mongo -u admin -p @ main", "plainword".to_owned(), "password"),
        ("sqlcmd -S db1 -U sa -P @ -Q x", "plainword".to_owned(), "password"),
        ("db.internal:5432:main:app:@\n", "plainword".to_owned(), "password"),
        ("PGPASSWORD=@ psql -h db", "plainword".to_owned(), "password"),
        ("Twilio auth token @, rotated", hex(32), "service token"),
        ("admin password → @", "k9Vt2!x7".to_owned(), "password"),
        ("パスワードは「@」です", "k9Vt2!x7".to_owned(), "password"),
        ("password:\n  @\nport: 5432", "blue42fish".to_owned(), "password"),
        ("**Password:**\n\n`@`\n", "blue42fish".to_owned(), "password"),
        ("API token:\r\n@", alnum(32), "secret value"),
        ("mysql -u root -p@ main", "S3cr3t!".to_owned(), "password"),
        ("$ /usr/bin/mysqldump \\\n  -p'@' main", "correct horse".to_owned(), "password"),
        ("curl -u me:@ https://example.com", "plainword".to_owned(), "password"),
        ("curl -sS --user='me:@' https://example.com", "a long one".to_owned(), "password"),
        ("**Password:** @", "blue42fish".to_owned(), "password"),
        ("os.environ[\"API_TOKEN\"] = \"@\"", alnum(32), "secret value"),
        ("const API_KEY: &str = \"@\";", alnum(32), "secret value"),
        ("let apiKey = '@'", hex(32), "secret value"),
        ("client_secret = @", alnum(20), "secret value"),
        ("token: @", hex(40), "secret value"),
        ("?user=1&access_token=@&x=2", alnum(40), "secret value"),
        (
            "AccountName=x;AccountKey=@;Suffix=y",
            format!("{}==", random(ALNUM, 86, 4)),
            "secret value",
        ),
        ("secret: @", "aB3dE5fG7hJ9".to_owned(), "secret value"),
        ("PASSWORD_ADMIN=@", "Winter2026".to_owned(), "password"),
        ("DB_PASS=@", "Winter2026".to_owned(), "password"),
        ("MYSQL_ROOT_PASS: '@'", "S3cr3t!".to_owned(), "password"),
        ("POP3_PASS=@", "Winter2026".to_owned(), "password"),
        ("DB_PROD_PASS=@", "Winter2026".to_owned(), "password"),
        ("DJANGO_SUPERUSER_PASS=@", "Winter2026".to_owned(), "password"),
        ("PASSWORD_EXCHANGE=@", "Winter2026".to_owned(), "password"),
        ("smtp_pass = \"@\"", "S3cr3t!".to_owned(), "password"),
        ("RABBITMQ_DEFAULT_PASS=@", "Winter2026".to_owned(), "password"),
        ("ansible_ssh_pass=@", "Winter2026".to_owned(), "password"),
        ("password_reset_token=@", alnum(32), "secret value"),
        ("password: @", "2024-11-99Tx7Qm".to_owned(), "password"),
        ("token: @", format!("0x{}", hex(42)), "secret value"),
        ("PRIVATE_KEY=@", format!("0x{}", hex(64)), "secret value"),
    ]
}

#[test]
fn a_secret_is_removed_and_the_surrounding_text_stays() {
    for (text, secret, kind) in gone() {
        // The last `@` of an address is its own.
        let whole = text.replacen('@', &secret, 1);
        let scrubbed = scrub(&whole);
        let expected = text.replacen('@', &marker(SecretKind(kind)), 1);
        assert_eq!(scrubbed.text, expected, "of {whole}");
        let kinds: Vec<_> = scrubbed.removed.iter().map(|kind| kind.name()).collect();
        assert_eq!(kinds, [kind], "{whole}");
        assert_eq!(scrub(&scrubbed.text).text, scrubbed.text, "again");
    }
}

/// Passwords from generators, with signs and brackets in them. The surrounding text decides where
/// each ends.
#[test]
fn a_password_is_removed_with_its_brackets_and_punctuation() {
    for (text, password) in [
        ("password: \"@\"", "k9{Vt2!pQz7"),
        ("password: \"@\"", "k9}Vt2!pQz7"),
        ("password = '@'", "<k9Vt2!pQz7"),
        ("password = '@'", "k9>Vt2!<pQz7"),
        ("password = '@'", "{Vt2!pQz7"),
        ("password = '@'", "a{Vt2!}pQz7"),
        ("password = '@'", "%Vt2!pQz7"),
        ("password = '@'", "$Vt2!pQz7"),
        ("DB_PASSWORD=@", "k9}Vt2!pQz7"),
        ("DB_PASSWORD=@", "k9{Vt2!pQz7"),
        ("DB_PASSWORD=@", "x7Qm29(kV"),
        ("DB_PASSWORD=@\n", "x7Qm29[kV"),
        ("DB_PASSWORD=@ and then (more)", "x7Qm29(kV"),
        ("DB_PASSWORD=@", "kV(29xQ7m"),
        ("DB_PASSWORD=@", "kV(29)xQ7m"),
        ("DB_PASSWORD=@", "(29xQ7mkV"),
        ("export DB_PASSWORD=@\nHOST=x", "k9)Vt2!pQz7"),
        ("a: 1\n  password: @\n", "k9;Vt2!pQz7"),
        ("- DB_PASSWORD=@\r\n", "k9,Vt2|pQz7"),
        ("DB_PASSWORD=@", "k9<Vt2!pQz7"),
        ("(password: @)", "hunter2"),
        ("password=@</p>", "a1b2c3d4"),
        ("{user: bob, password: @}", "hunter2"),
        ("see f(password=@)", "k9{Vt2!pQz7"),
        ("postgres://app:@@db/main", "k9{Vt2"),
        ("postgres://app:@@db", "%23Winter2026"),
        ("postgres://app:@@db", "[k9Vt2"),
        ("postgres://app:@@db", "$ecret!2026"),
        ("mysql -p'@'", "%Winter26"),
        ("mysql -p'@' main", "*k9Vt2!x"),
        ("curl -u 'me:@' https://example.com", "$k9Vt2!x"),
        ("curl -u 'me:@' https://example.com", "{k9Vt2!x"),
    ] {
        let whole = text.replacen('@', password, 1);
        let scrubbed = scrub(&whole);
        let [kind] = *scrubbed.removed else { panic!("{:?} of {whole}", scrubbed.removed) };
        assert_eq!(scrubbed.text, text.replacen('@', &marker(kind), 1), "of {whole}");
    }
}

#[test]
fn each_pattern_compiles_and_does_not_match_the_empty_text() {
    for (clue, rule) in rules::all() {
        assert!(!rule.pattern.is_in(""), "{clue}");
    }
    assert!(names::PATTERNS.iter().all(|pattern| !pattern.is_in("")));
}

#[test]
fn false_positives_are_kept() {
    let long = random(&format!("{ALNUM}+/"), 4_000, 11);
    let stays = [
        format!("fixed in {}", hex(40)),
        format!("the token check moved in commit {}", hex(40)),
        format!("checksum = \"{}\"", hex(64)),
        "password: \"#{ENV['DB_PASSWORD']}\"".to_owned(),
        "password = \"#{ENV.fetch('DB_PASS')}\"".to_owned(),
        "PASSWORD=\"${1#*=}\"".to_owned(),
        "PASSWORD=\"${arg#--password=}\" PASSWORD=\"${!name}\"".to_owned(),
        "'password' => \"{$cfg['db_pass']}\"".to_owned(),
        "    password: Box<[u8]>,".to_owned(),
        "    password: SecretBox<[u8]>,".to_owned(),
        format!("integrity sha512-{}==", alnum(86)),
        format!("token_hash: {}", hex(64)),
        format!("secret_sha256 = \"{}\"", hex(64)),
        format!("password: sha256:{}", hex(64)),
        "token = 550e8400-e29b-41d4-a716-446655440000".to_owned(),
        "session 550e8400-e29b-41d4-a716-446655440000 ended".to_owned(),
        format!("<img src=\"data:image/png;base64,{long}\">"),
        format!("data:image/png;base64,EAAAAAAAAAAAAAAAAAAAAAAAAAAA{long}"),
        format!("\"token\": \"{long}\""),
        "token = getToken()".to_owned(),
        "let token = self.session.token_store.refresh(user_id2);".to_owned(),
        "password = settings.DATABASE_PASSWORD_2".to_owned(),
        "password: String, token: Option<String>,".to_owned(),
        "def login(user, password=None, token=DEFAULT_TOKEN_V2):".to_owned(),
        "const token = process.env.GITHUB_TOKEN_2;".to_owned(),
        "API_KEY=YOUR_API_KEY".to_owned(),
        "API_KEY=your-api-key-1a2B3c4D5e6F7g8H".to_owned(),
        "token: xxxxxxxxxxxxxxxxxxxxxxxx".to_owned(),
        ["gh", "p_", &"x".repeat(36)].concat(),
        "password: ********".to_owned(),
        "secret: ${API_SECRET_2024_PROD}".to_owned(),
        "curl -H \"Authorization: Bearer $TOKEN\"".to_owned(),
        "curl -H \"Authorization: Bearer <token>\"".to_owned(),
        "Authorization: Bearer tokens are checked in middleware".to_owned(),
        "Authorization: required for every role".to_owned(),
        "authorization is role-based, see src/auth/policy_v2.rs".to_owned(),
        "postgres://user:password@localhost/db".to_owned(),
        "postgres://${USER}:${PASSWORD}@host/db".to_owned(),
        "https://user:<password>@host".to_owned(),
        "ssh://git@github.com:22/org/repo".to_owned(),
        "see http://localhost:8080/a@b".to_owned(),
        "max_tokens: 100000, token_budget = 80000".to_owned(),
        "tokenizer: cl100k_base_v2_2024_07".to_owned(),
        "the secretary: AnnaMaria1985Smith2".to_owned(),
        "token_file = /etc/anchord/token-2024-aB3dE5.txt".to_owned(),
        "secret_name: prod/db/main2024aB3dE5".to_owned(),
        "const ERROR_WRONG_PASSWORD: u32 = 0x8031002C_u32; NO_PASSWORD: i32 = 16384i32;".to_owned(),
        format!("\"nextPageToken\": \"{}\"", alnum(40)),
        "pub SeCreateTokenPrivilege: super::super::super::Win32::Foundation::LUID,".to_owned(),
        "pub const SYS_lookup_dcookie: c_long = __X32_SYSCALL_BIT + 212;".to_owned(),
        "the password page moved to k8s-login-v2, see release2024 and issue#1234".to_owned(),
        "the password was reset to the default on 2024-11-22 by ops2024team".to_owned(),
        "password hashing: argon2id".to_owned(),
        "password: argon2id".to_owned(),
        "password: must have 12 characters".to_owned(),
        "password: see JIRA-1234".to_owned(),
        "password: JIRA-1234, token: OPS-77".to_owned(),
        "password:\n  type: string\n  minLength8: 8".to_owned(),
        "password:\nport2: 5432".to_owned(),
        "DB_PASSWORD=\nDB_HOST2=main".to_owned(),
        "password:\nROTATE2=never".to_owned(),
        "password:\n\n\n\nblue42fish".to_owned(),
        "password:\nblue42fish is the name of a fish".to_owned(),
        "mysql -u root -p main".to_owned(),
        "mysql -h db -p$MYSQL_PASSWORD; mkdir -parents".to_owned(),
        "docker run mysql:8 -p3306:3306".to_owned(),
        "curl -u \"$USER:$PASS\" https://example.com".to_owned(),
        "curl -u me:<password> https://example.com, curl -u me https://example.com".to_owned(),
        "curling -u me:plainword, mycurl -u me:plainword".to_owned(),
        "the password is wrong after 3 tries".to_owned(),
        "js-tokens@4.0.0, resolution: {integrity: sha512-abc}".to_owned(),
        "token: handleHTTPRequestWithRetry2".to_owned(),
        "sk-learn-something-or-other-v2-final".to_owned(),
        "task-force-of-people-with-names".to_owned(),
        "E0502 at src/db.rs:42, api_key lookup is O(1)".to_owned(),
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA7\n-----END PUBLIC KEY-----".to_owned(),
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----".to_owned(),
        "a PEM begins with -----BEGIN PRIVATE KEY-----".to_owned(),
        "token 2024-01-15T10:30:00Z, token: 2024-01-15T10:30:00.123456Z".to_owned(),
        "password = getPassword2(user), password: decode_v2(row[2])".to_owned(),
        "password=decrypt_v2(row),\ntoken=args[1]".to_owned(),
        "  password: getOAuth2Token(a)(b),\n  password=t.n2(row)".to_owned(),
        "password = base64Decode(\n  value2)".to_owned(),
        "password = userPassword(user2, \"a".to_owned(),
        "  password: string|Uint8Array;\n  password: Option<Secret2>,\n".to_owned(),
        "password: [u8;32],\npassword: [u8; 32]\npassword=vec![0u8;32]".to_owned(),
        "password={password2}, password={self.pass2[0]}, password={{pass2}}".to_owned(),
        "{password:{type:String,minlength:8,max:20}}".to_owned(),
        "var o={user:t.u1,password:this.pass2};".to_owned(),
        "password: \"{user_id2}-{name:>10}\"".to_owned(),
        "password: '#{pass2}', password: '{0}x{1}y2', password: 'test{}12'".to_owned(),
        "password: \"^[a-z]{8,20}$\", password: \"<your-password-1>\"".to_owned(),
        "password: \"{{ .Values.db.password2 }}\", password: \"{{pass2}}\"".to_owned(),
        "password: '${DB_PASS2:-fallback}', password: \"$DB_PASS2\"".to_owned(),
        "password=$DB_PASS2&user=$DB_USER, password: \"$env:DB_PASS2\"".to_owned(),
        "password: '%DB_PASS2%', password: '%(password2)s', password: '%{pass2}'".to_owned(),
        "postgres://app:%DB_PASS%@db, postgres://app:{password}@db, mysql://a:[password]@db".to_owned(),
        "postgres://app:$DB_PASS2@db, postgres://app:${DB_PASS2}@db, postgres://a:%02d@db".to_owned(),
        "mysql -p%MYSQL_PASS2% main, mysql -p'{{ pass2 }}'".to_owned(),
        "\"password_changed_at\": \"2024-11-22T10:15:30Z\"".to_owned(),
        "password_updated_at=2024-11-22T10:15:30Z last_pass: 2024-11-22T10:15:30.123+01:00".to_owned(),
        "password: 2024-11-22T10:15:30Z, token = \"20241122T101530Z\"".to_owned(),
        "{\"passwordResetBy\":\"ops2024team\", \"passwordRotated\":\"build1234\"}".to_owned(),
        "sox a.wav b.wav high_pass=12000Hz, two_pass: h264_nvenc, render_pass = RenderPass2D".to_owned(),
        "TOKEN_ADDRESS=0xdAC17F958D2ee523a2206206994597C13D831ec7".to_owned(),
        "\"tokenAddress\": \"0xdAC17F958D2ee523a2206206994597C13D831ec7\"".to_owned(),
        "token: 0xdAC17F958D2ee523a2206206994597C13D831ec7".to_owned(),
        "parser yields Token::Ident, Token::Number(42), Token: Box<dyn Fn(u8) -> u8>".to_owned(),
    ];
    for text in stays {
        let scrubbed = scrub(&text);
        assert_eq!(scrubbed.text, text, "{:?}", scrubbed.removed);
    }
}

/// The shortest text that counts as a key, and texts that only mention one.
#[test]
fn a_truncated_key_block_is_recognised_as_a_key() {
    // Part of a key made for this test, which opens nothing.
    let body = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF";
    for (label, chars) in [("PRIVATE KEY", 16), ("PRIVATE KEY", 36), ("PRIVATE KEY", 64)] {
        let cut = format!("-----BEGIN {label}-----\n{}", &body[..chars]);
        assert_eq!(scrub(&cut).text, "[secret removed: private key]", "{cut}");
        let escaped = format!("key = \"{}\"", cut.replace('\n', "\\n"));
        assert!(!scrub(&escaped).text.contains("MC4CAQ"), "{escaped}");
    }
    for told in [
        "-----BEGIN PRIVATE KEY----- is how such a file begins, and the rest of it is told elsewhere",
        "grep for -----BEGIN RSA PRIVATE KEY-----, then look into memory/src/secrets/places first",
        "-----BEGIN PRIVATE KEY-----\nbase64 of the key, which openssl writes in lines of 64",
        "-----BEGIN PRIVATE KEY----- see handlePrivateKeyBlock and isEncryptedPrivateKey",
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQY",
    ] {
        assert_eq!(scrub(told).text, told);
    }
}

#[test]
fn a_field_name_counts_like_a_word_before_the_value() {
    let value = alnum(32);
    let scrubbed = scrub_named("stripe api key", &value);
    assert_eq!(scrubbed.text, "[secret removed: secret value]");
    assert_eq!(scrub_named("db_password", " hunter2\n").text, " [secret removed: password]\n");
    assert_eq!(scrub_named("commit", &value).text, value);
    assert_eq!(scrub_named("token", "the one from the vault").text, "the one from the vault");
    for name in ["password_rotated_at", "password"] {
        let time = "2024-11-22T10:15:30Z";
        assert_eq!(scrub_named(name, time).text, time, "{name}");
    }
    assert_eq!(scrub_named("api_key", "$API_KEY").text, "$API_KEY");
}

#[test]
fn a_cut_is_never_inside_a_marker() {
    let text = "key [secret removed: GitHub token] and [secret removed: password]";
    for (at, cut) in [(3, 3), (4, 4), (5, 4), (20, 4), (33, 4), (34, 34), (38, 38), (60, 39)] {
        assert_eq!(cut_outside_markers(text, at), cut, "{at}");
    }
}

#[test]
fn a_forged_marker_cannot_hide_a_secret() {
    let token = ["gh", "p_", &alnum(36)].concat();
    let text = format!("[secret removed: {token}]");
    assert_eq!(scrub(&text).text, "[secret removed: [secret removed: GitHub token]]");
}

#[test]
fn several_secrets_in_one_text_are_listed_in_order() {
    let text =
        format!("password={}\nkey {}\n", "hunter2", ["AK", "IA", &random(UPPER, 16, 5)].concat());
    let scrubbed = scrub(&text);
    assert_eq!(scrubbed.removed, [PASSWORD, SecretKind("AWS key")]);
}

/// Texts in which every position is a candidate. Without bounds on each check, they would never
/// finish.
#[test]
fn hostile_texts_are_scanned_in_bounded_time() {
    let pieces = [
        "-----BEGIN PRIVATE KEY-----",
        "token=",
        "password=\"",
        "://a:",
        "Authorization: ",
        "bearer ",
        "eyJ",
        "token\"\"\"\"",
        "mysql -p",
        "curl -u a:",
        "password:\n",
        "[secret removed: ",
        "é://é:é@",
        "password={<",
        "password=a1))",
        "\npassword=a1B2(",
    ];
    // Token prefixes that run into each other: only the end of the text ends a check.
    let tokens = [
        "sk-",
        "sk-a1",
        "sk-xxxx",
        "tvly-0aB",
        "xoxb-",
        "glpat-",
        "whsec_/",
        "SG.x",
        "dapi0",
        "eyJ-",
        "eyJhbGciOiJI.",
        "eyJhbGciOiJI.ey-",
    ];
    let texts = pieces.map(|piece| (piece, 40_000)).into_iter();
    let texts = texts.chain(tokens.map(|piece| (piece, 200_000)));
    for (piece, bytes) in texts {
        let once = scrub(&piece.repeat(bytes / piece.len())).text.into_owned();
        assert_eq!(scrub(&once).text, once, "{piece}");
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let secrets: Vec<String> = gone().into_iter().map(|(_, secret, _)| secret).collect();
    let words: Vec<&str> = vec![
        "password",
        "token",
        "secret",
        "=",
        ": ",
        "\"",
        "'",
        " ",
        "\n",
        "://",
        "@",
        "user:",
        "a",
        "Authorization",
        "Bearer ",
        "api_key",
        "mysql -p",
        "curl -u ",
        "--",
        "[secret removed: password]",
        "]",
        "[",
        "\\n",
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        "%",
        "$",
        ";",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "é",
        "x",
        "1",
        "_",
        "-",
        ".",
    ];
    let piece = prop_oneof![
        3 => proptest::sample::select(words).prop_map(str::to_owned),
        2 => proptest::sample::select(secrets),
        1 => "[A-Za-z0-9+/=_.-]{1,40}",
        1 => "\\PC{0,8}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn scrubbed_text_has_nothing_left_to_scrub(text in pieces()) {
        let once = scrub(&text);
        let again = scrub(&once.text);
        prop_assert_eq!(&again.text, &once.text);
        prop_assert!(again.removed.is_empty());
        prop_assert_eq!(once.removed.is_empty(), once.text == text);
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        let digit = move |at: usize| {
            if at > group.len() { '=' } else { char::from(DIGITS[bits >> (18 - 6 * at) & 63]) }
        };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

proptest! {
    /// Images and fonts contain many zeros, which are `A` in base64.
    #[test]
    fn base64_files_and_hashes_are_kept(
        bytes in proptest::collection::vec(prop_oneof![1 => Just(0_u8), 3 => any::<u8>()], 60..400),
        hash in "[0-9a-f]{64}",
    ) {
        for text in [format!("data:image/png;base64,{}", base64(&bytes)), format!("sha256 = \"{hash}\"")] {
            prop_assert_eq!(&scrub(&text).text, &text);
        }
    }
}
