//! The rules, one a line: tokens by their prefix, and secrets by what is around them.
//!
//! The forms of tokens are those that their issuers document. The automaton in [`super`] finds
//! where a rule may apply. The rule's [`Pattern`] is then tried there alone.

use std::ops::Range;
use std::sync::LazyLock;

use super::SecretKind;
use super::pattern::Pattern;
use super::placeholders::{is_filler, is_placeholder};
use super::values::is_random;
use super::{AUTHORIZATION, COOKIE, JWT, PASSWORD, PRIVATE_KEY, SERVICE, SIGNATURE, URL_PASSWORD};
use crate::limits::{KEY_BLOCK_BYTES_MAX, SECRET_SHAPE_BYTES_MAX, SECRET_VALUE_BYTES_MAX};

use Test::{Any, Argument, Cookies, Filled, Given, Random, Sent};

/// The least that a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Any,
    /// Not crosses or stars.
    Filled,
    /// As from a generator.
    Random,
    /// Sent under a scheme: it has a digit, a capital or `=`.
    Sent,
    /// A password where nothing else can be, apart from examples.
    Given,
    /// A password in a command's option, apart from paths, ports and other options.
    Argument,
    /// The values of all pairs in the line, if they are random.
    Cookies,
}

/// Tokens: the kind, the prefixes in their case, and what follows.
const TOKENS: &[(&str, &str, &str)] = &[
    ("AWS key", "AKIA|ASIA|ABIA|ACCA", r"[A-Z0-9]{16}\b"),
    ("AWS key", "ABSK", r"[\w./+=-]{100,}"),
    ("Slack webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[\w./+=-]{30,}"),
    ("Discord webhook", "discord.com/api/|discordapp.com/api/", r"webhooks/[\w./+=-]{30,}"),
    ("Teams webhook", "office.com/webhook", r"(?:b2)?/[\w./+=@%~-]{60,}"),
    ("GitHub token", "ghp_|gho_|ghu_|ghr_", r"[[:alnum:]]{30,}"),
    ("GitHub token", "ghs_", r"\w{30,}"),
    ("GitHub token", "github_pat_", r"\w{40,}"),
    ("GitLab token", "glpat-|glrt-", r"[\w.-]{20,}"),
    ("GitLab token", "gldt-|glcbt-|glft-|glimt-|glsoat-|GR1348941|glffct-", r"[\w-]{20,}"),
    ("GitLab token", "glptt-|glagent-|gloas-", r"[\w-]{40,}"),
    ("Bitbucket token", "ATBB", r"[[:alnum:]]{32}\b"),
    ("Atlassian token", "ATATT3|ATCTT3", r"[\w./+=-]{60,}"),
    ("Google API key", "AIza", r"([\w-]{35})(?:[^\w-]|$)"),
    ("Google client secret", "GOCSPX-", r"[\w-]{24,}"),
    ("Google access token", "ya29.", r"[\w-]{20,}"),
    ("Anthropic key", "sk-ant-", r"[\w-]{20,}"),
    ("OpenAI key", "sk-proj-|sk-svcacct-|sk-admin-", r"[\w-]{20,}"),
    ("OpenRouter key", "sk-or-v1-", r"[0-9a-f]{32,}"),
    ("Stripe key", "sk_live_|sk_test_|rk_live_|rk_test_|sk_prod_", r"[[:alnum:]]{10,}"),
    ("Slack token", "xoxb-|xoxp-|xoxa-|xoxr-|xoxs-|xoxo-|xoxe-|xapp-", r"[\w-]{20,}"),
    ("Slack token", "xoxe.", r"[\w.-]{20,}"),
    ("Hugging Face token", "hf_", r"[[:alnum:]]{30,}"),
    ("Hugging Face token", "api_org_", r"[[:alnum:]]{34}\b"),
    ("npm token", "npm_", r"[[:alnum:]]{36}\b"),
    ("PyPI token", "pypi-AgE", r"[\w-]{40,}"),
    ("RubyGems key", "rubygems_", r"[0-9a-f]{48}\b"),
    ("crates.io token", "cio", r"[[:alnum:]]{32}\b"),
    ("Docker token", "dckr_pat_|dckr_oat_", r"[\w-]{20,}"),
    ("Mailgun key", "key-", r"[0-9a-f]{32}\b"),
    ("Brevo key", "xkeysib-", r"[\w-]{60,}"),
    ("DigitalOcean token", "dop_v1_|doo_v1_|dor_v1_", r"[0-9a-f]{60,}"),
    ("Databricks token", "dapi", r"[0-9a-f]{32}\b"),
    ("Doppler token", "dp.pt.", r"[[:alnum:]]{40,}"),
    ("Doppler token", "dp.st.", r"[\w.-]{40,}"),
    ("Linear key", "lin_api_", r"[[:alnum:]]{32,}"),
    ("Linear token", "lin_oauth_", r"[[:alnum:]]{32,}"),
    ("Notion token", "ntn_", r"[[:alnum:]]{40,}"),
    ("Notion token", "secret_", r"[[:alnum:]]{43}\b"),
    ("Shopify token", "shpat_|shpca_|shppa_|shpss_", r"[0-9a-f]{32,}"),
    ("Square token", "sq0atp-", r"[\w-]{22,}"),
    ("Square token", "sq0csp-", r"[\w-]{40,}"),
    ("Vault token", "hvs.", r"[\w-]{24,}"),
    ("Vault token", "hvb.|hvr.", r"[\w-]{60,}"),
    ("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    ("Grafana token", "glsa_", r"\w{32,}"),
    ("Grafana token", "glc_", r"[\w./+=-]{32,}"),
    ("Sentry token", "sntrys_", r"[\w./+=-]{40,}"),
    ("Sentry token", "sntryu_", r"[0-9a-f]{60,}"),
    ("Postman key", "PMAK-", r"[\w-]{50,}"),
    ("Pulumi token", "pul-", r"[0-9a-f]{40}\b"),
    ("PlanetScale token", "pscale_tkn_|pscale_oauth_", r"[\w.-]{32,}"),
    ("PlanetScale password", "pscale_pw_", r"[\w.-]{32,}"),
    ("Supabase token", "sbp_", r"[0-9a-f]{40}\b"),
    ("Supabase key", "sb_secret_", r"[\w-]{20,}"),
    ("Fly.io token", "fm2_", r"[\w./+=-]{80,}"),
    ("Fly.io token", "fo1_", r"[\w-]{40,}"),
    ("Netlify token", "nfp_", r"[[:alnum:]]{36,}"),
    ("Figma token", "figd_", r"[\w-]{36,}"),
    ("Groq key", "gsk_", r"[[:alnum:]]{40,}"),
    ("Replicate token", "r8_", r"[[:alnum:]]{37}\b"),
    ("Perplexity key", "pplx-", r"[[:alnum:]]{40,}"),
    ("xAI key", "xai-", r"[[:alnum:]]{60,}"),
    ("Tailscale key", "tskey-", r"[\w-]{20,}"),
    ("New Relic key", "NRAK-", r"[A-Z0-9]{27}\b"),
    ("Heroku key", "HRKU-", r"[\w-]{36,}"),
    ("Contentful token", "CFPAT-", r"[\w-]{40,}"),
    ("Buildkite token", "bkua_", r"[0-9a-f]{40,}"),
    ("CircleCI token", "CCIPAT_", r"\w{40,}"),
    ("LangSmith key", "lsv2_pt_|lsv2_sk_", r"\w{32,}"),
    ("1Password token", "ops_eyJ", r"[\w./+=-]{200,}"),
    ("Datadog key", "ddp_", r"[[:alnum:]]{36}\b"),
    ("EasyPost key", "EZAK|EZTK", r"[[:alnum:]]{54}\b"),
    ("Duffel token", "duffel_live_|duffel_test_", r"[\w-]{40,}"),
    ("WakaTime key", "waka_", r"[\w-]{36,}"),
    ("NuGet key", "oy2", r"[[:alnum:]]{43}\b"),
    ("Clojars token", "CLOJARS_", r"[[:alnum:]]{60,}"),
    ("New Relic key", "NRII-", r"[\w-]{30,}"),
    ("Artifactory key", "AKCp", r"[[:alnum:]]{69}\b"),
    ("Artifactory token", "cmVmd", r"[[:alnum:]]{59}\b"),
    ("Dynatrace token", "dt0c01.", r"[\w.-]{80,}"),
    ("Tencent key", "AKID", r"[[:alnum:]]{32}\b"),
    ("Frame.io token", "fio-u-", r"[\w-]{60,}"),
    ("Flutterwave key", "FLWSECK_TEST-|FLWSECK-", r"[\w-]{12,}"),
    ("Razorpay key", "rzp_live_|rzp_test_", r"[[:alnum:]]{14}\b"),
    ("Typeform token", "tfp_", r"[\w.-]{40,}"),
    ("ReadMe key", "rdme_", r"[[:alnum:]]{60,}"),
    ("Prefect key", "pnu_", r"[[:alnum:]]{36}\b"),
    ("Shippo token", "shippo_live_|shippo_test_", r"[0-9a-f]{40,}"),
    ("Sourcegraph token", "sgp_", r"\w{40,}"),
    ("Intercom token", "dG9rOm", r"[\w./+=-]{50,}"),
    ("Cloudflare key", "v1.0-", r"[\w-]{160,}"),
    ("Infracost key", "ico-", r"[[:alnum:]]{32}\b"),
    ("Mapbox token", "sk.eyJ1", r"[\w.-]{60,}"),
    ("Grafana key", "eyJrIjoi", r"[\w./+=-]{50,}"),
    ("SettleMint token", "sm_pat_|sm_aat_", r"[[:alnum:]]{16}\b"),
    ("Scalingo token", "tk-us-", r"[\w-]{48,}"),
    ("Adobe secret", "p8e-", r"[[:alnum:]]{32}\b"),
    ("Defined Networking token", "dnkey-", r"[\w-]{70,}"),
    ("ClickHouse key", "4b1d", r"[[:alnum:]]{38}\b"),
    ("HubSpot token", "pat-na1-|pat-eu1-", r"[\w-]{36,}"),
    ("LangSmith key", "lsv2_", r"\w{40,}"),
];

/// Tokens whose prefix also begins words. What follows is random.
const RANDOM_TOKENS: &[(&str, &str, &str)] = &[
    ("Google refresh token", "1//0", r"[\w-]{40,}"),
    ("API key", "sk-", r"[\w-]{20,}"),
    ("webhook secret", "whsec_", r"[\w./+=-]{20,}"),
    ("SendGrid key", "SG.", r"[\w.-]{60,}"),
    ("Tavily key", "tvly-", r"[\w-]{20,}"),
    ("Square token", "EAAA", r"[\w-]{56,}"),
    ("Facebook token", "EAAC|EAAM", r"[[:alnum:]]{100,}"),
    ("Alibaba key", "LTAI", r"[[:alnum:]]{16,}"),
    ("Yandex key", "AQVN", r"[\w-]{35,}"),
    ("Fireworks key", "fw_", r"[[:alnum:]]{22,}"),
    ("Dropbox token", "sl.", r"[\w-]{100,}"),
    ("1Password key", "A3-", r"[A-Z0-9-]{33,}"),
];

/// A row of the table of places.
type PlaceRow = (SecretKind, &'static str, (usize, usize), &'static str, Test);

/// Secrets by what is around them: what announces them, how far before and behind it they reach,
/// and the pattern. It begins with the word that reaches up to there, or behind what announces it.
const PLACES: &[PlaceRow] = &[
    (
        JWT,
        "eyj",
        (2, LONG),
        r"(?:\\[nrt]|\W)*(eyJ[\w-]{9,}\.ey[\w-]{11,}(?:\.[\w-]{16,}|$))",
        Filled,
    ),
    (SERVICE, ":a", (20, 64), r"(?:\S*?\D)?(\d{6,16}:A[\w-]{33,35})(?:[^\w-]|$)", Filled),
    (SERVICE, "q~", (4, 64), r"([\w.~-]{3}\dQ~[\w.~-]{31,34})(?:[^\w.~-]|$)", Filled),
    (SERVICE, ".atlasv1.", (15, 128), r"\W?([[:alnum:]]{14}\.atlasv1\.[\w-]{60,120})", Filled),
    (PRIVATE_KEY, "PuTTY-User-Key-File-", (0, KEY_BLOCK_BYTES_MAX), PUTTY, Any),
    (AUTHORIZATION, "authorization", (0, LONG), r#"SIGN["']?SCHEME +RUN"#, Sent),
    (AUTHORIZATION, "authorization", (0, LONG), r#"SIGN["']?LINED +([^\n"'`]{7,}[^\s"'`])"#, Sent),
    (AUTHORIZATION, "authorization", (0, LONG), r#"SIGN["']?RUN"#, Random),
    (AUTHORIZATION, "bearer |key is ", (0, LONG), "RUN", Random),
    (URL_PASSWORD, "@", (ADDRESS, 0), r"\S*?://[\w.~%+OTHER-]*:(HOST(?:HOST|:){2,})@", Given),
    (URL_PASSWORD, "@", (ADDRESS, 0), r"\S*?://(HOST{12,})@", Random),
    (URL_PASSWORD, ":thin:", (0, LONG), r"[^\s/@]+/([^\s@]{3,})@", Given),
    (SIGNATURE, "&sig=", (0, LONG), r"[\w%+/=-]{40,}", Any),
    (COOKIE, "cookie:", (0, LONG), r#"[^\n=;]*=["']?([^;\s"']*)[^\n;]*;?"#, Cookies),
    (
        PASSWORD,
        "echo ",
        (0, ADDRESS),
        r#"PIPED[\w.-]+:([^\n|"']{4,}?)["']? *\|[^\n|]*chpasswd"#,
        Given,
    ),
    (PASSWORD, "echo ", (0, ADDRESS), r#"PIPED([^\n|"']{4,}?)["']? *\|[^\n|]*sudo -S"#, Given),
    (PASSWORD, "machine ", (0, LONG), r"\S+\s+login\s+\S+\s+password\s+(\S{4,})", Given),
    (PASSWORD, "default ", (0, LONG), r"login\s+\S+\s+password\s+(\S{4,})", Given),
    // `.pgpass`: `db:5432:main:app:hunter2`, `*:*:*:app:hunter2`
    (PASSWORD, ":5432:|:5433:|:5434:|:6432:", (ADDRESS, LONG), r"\W?[\w.*-]+:\d+:PGPASS", Given),
    (PASSWORD, ":*:", (ADDRESS, LONG), r"\W?(?:\*|localhost|[\w-]+(?:\.[\w-]+)+):\*:PGPASS", Given),
    // SQL. Its words are capitals here, since prose also has `identified by 'name'`.
    (PASSWORD, "fied by ", (6, LONG), r#"IDENTIFIED BY +(?:'([^'\n]+)'|"([^"\n]+)")"#, Given),
    (PASSWORD, "fied by ", (6, LONG), r#"IDENTIFIED BY +([^\s"';]*\d[^\s"';]*)"#, Given),
    (
        PASSWORD,
        "identified by ",
        (0, LONG),
        r#"["']([^\s"']*[A-Za-z]{3}[^\s"']*\d\d[^\s"']*)["']\s*(?:;|$)"#,
        Given,
    ),
    (
        PASSWORD,
        "identified with ",
        (0, LONG),
        r#"\w+ (?i:by|as) +(?:'([^'\n]+)'|"([^"\n]+)")"#,
        Given,
    ),
    (PASSWORD, "th password ", (2, LONG), r"WITH PASSWORD *=? *N?'([^'\n]+)'", Given),
    (PASSWORD, "ssword '", (16, LONG), r"PASSWORD '([^'\n]+)'", Given),
    // Variables that clients read a password from. Its value may be any word.
    (
        PASSWORD,
        "pgpassword=|mysql_pwd=|sshpass=|rediscli_auth=|restic_password=|borg_passphrase=",
        (0, LONG),
        r#"(?:"([^"\n]+)"|'([^'\n]+)'|RAW)"#,
        Given,
    ),
    // A token of Twilio has no form of its own. The words before it, or the account, tell.
    (
        SERVICE,
        "twilio",
        (0, LONG),
        r"[^\n]*?(?i:token|secret|auth)(?:[^\n\w]+[A-Za-z]+){0,3}[^\n\w]{1,4}([0-9a-f]{32})(?:\W|$)",
        Filled,
    ),
    (
        SERVICE,
        "twilio",
        (0, LONG),
        r"[^\n]*?AC[0-9a-f]{32}[^\n\w]{1,8}(?:[A-Za-z]+[^\n\w]{1,4}){0,3}([0-9a-f]{32})(?:\W|$)",
        Filled,
    ),
];

/// The distance to which most values reach.
const LONG: usize = SECRET_VALUE_BYTES_MAX;

/// The distance to which the part of a URL before its host reaches.
const ADDRESS: usize = 160;

/// A key of `PuTTY`, to the end of its lines.
const PUTTY: &str =
    r"PuTTY-User-Key-File-\d: [^\n]*\n(?:[^\n]*\n){1,60}?Private-Lines: \d+(?:\s+[\w+/=]+)+";

/// Commands that take a password: their names, and the option with the password in it.
const COMMANDS: &[(&str, &str)] = &[
    ("mysql|mysqldump|mysqladmin|mysqlimport|mysqlshow|mariadb", r"ARGS-pVALUE"),
    (
        "curl",
        r#"ARGS(?:-[uU]|--user|--proxy-user)[ =]?(?:"[^":\n]*:([^"\n]+)"|'[^':\n]*:([^'\n]+)'|[^\s:"']*:RAW)"#,
    ),
    ("http", r#"ARGS(?:-a|--auth)[ =]["']?[^\s:"']*:RAW"#),
    ("sshpass", r"ARGS-p[ =]?VALUE"),
    ("docker login|podman login|nerdctl login|buildah login", r"ARGS(?:-p|--password)[ =]VALUE"),
    ("skopeo login|registry login|oc login|az login|cf login", r"ARGS(?:-p|--password)[ =]VALUE"),
    ("mongosh|mongodump|mongorestore", r"ARGS(?:-p|--password)[ =]VALUE"),
    // `-p` alone also belongs to `mkdir` and to `docker run` in the same line.
    ("mongo|mongoexport|mongoimport|mongostat|mongotop|mongofiles|cqlsh", USER_AND_PASSWORD),
    ("sqlcmd|bcp", r"ARGS-P ?VALUE"),
    ("vault login", r"ARGS(?:token|password)=VALUE"),
    (
        "vault login",
        r"ARGS(s\.[[:alnum:]]{20,}|[[:xdigit:]]{8}(?:-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12})",
    ),
    ("gh secret set", r"ARGS(?:--body|-b)[ =]VALUE"),
    ("redis-cli", r"ARGS(?:-a|--pass)[ =]VALUE"),
    ("ldapsearch|ldapmodify|ldapadd|ldapwhoami", r"ARGS-w VALUE"),
    ("smbclient|rpcclient", r#"ARGS(?:-U|--user)[ =]?["']?[^\s%"']*%RAW"#),
    ("smbclient", r"ARGS//\S+ +RAW +-[A-Za-z]"),
    ("unzip|zip", r"ARGS-P ?VALUE"),
    ("7z", r"ARGS-pVALUE"),
    ("openssl", r#"ARGS-pass(?:in|out)? +["']?pass:RAW"#),
    ("openssl", r"ARGS-k VALUE"),
    ("keytool|jarsigner", r"ARGS(?:-storepass|-keypass) VALUE"),
    ("htpasswd", r"ARGS-[A-Za-z]*b[A-Za-z]* +\S+ +\S+ +VALUE"),
    ("net use", r"ARGS/user:\S+ +VALUE"),
    ("xfreerdp", r"ARGS/p:VALUE"),
    ("plink|pscp", r"ARGS-pw VALUE"),
    ("lftp", r"ARGS(?:-u|--user)[ =]?[^\s,]*,([^\s]+)"),
    ("mosquitto_pub|mosquitto_sub", r"ARGS(?:-P|--pw)[ =]VALUE"),
];

/// An option with the user, and one with the password behind it.
const USER_AND_PASSWORD: &str =
    r"ARGS(?:-u|--username)[ =]?\S+ +(?:[^\n&|;]*?\s)?(?:-p|--password)[ =]VALUE";

/// Tokens without a prefix, found in long runs of token characters.
const SHAPES: &[&str] = &[
    // Twilio, Discord, Mailchimp, Mailgun.
    r"^SK[0-9a-f]{32}$",
    r"^[MNO][\w-]{21,29}\.[\w-]{6}\.[\w-]{25,45}$",
    r"^[0-9a-f]{32}-us\d{1,2}$",
    r"^[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}$",
];

/// The length of the shortest such token.
const SHAPE_BYTES_MIN: usize = 34;

/// The bytes of such tokens, as a table since every text is searched for them.
static SHAPE_BYTES: LazyLock<[bool; 256]> = LazyLock::new(|| {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    std::array::from_fn(|byte| u8::try_from(byte).is_ok_and(is_part))
});

/// The length of code in a key that is cut off. The shortest keys begin with about as many
/// characters that are the same for all.
const CUT_KEY_CHARS: usize = 16;

/// Placeholders for a password where a URL or a command is explained.
const EXPLAINED: [&str; 8] =
    ["password", "pass", "passwd", "pwd", "secret", "pw", "token", "mypassword"];

/// The kind of a rule's clue. It decides where the pattern begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// The beginning of a token or a key. The pattern begins with it.
    Token,
    /// The name of a command. The pattern begins behind it.
    Command,
    /// A text beside a secret. The pattern begins behind it.
    Behind,
    /// A text beside a secret. The pattern begins with the word that reaches up to it.
    Word,
}

/// A rule of one of the tables.
pub(super) struct Rule {
    pub(super) kind: SecretKind,
    begin: Begin,
    /// The distance to which the secret reaches before and behind the clue.
    reach: (usize, usize),
    pub(super) pattern: Pattern,
    test: Test,
}

/// Returns the rules, each with the texts that announce it, in any case and divided by `|`.
pub(super) fn all() -> Vec<(&'static str, Rule)> {
    let token = |(kind, prefixes, rest): &(&'static str, &'static str, &str), test| {
        let source = format!("(?:{})({rest})", prefixes.replace('.', r"\."));
        (*prefixes, Rule::new(SecretKind(kind), Begin::Token, (0, LONG), &source, test))
    };
    let place = |row: &PlaceRow| {
        let (kind, clue, reach, pattern, test) = *row;
        let begin = match (kind, reach) {
            (PRIVATE_KEY, _) => Begin::Token,
            (_, (0, _)) => Begin::Behind,
            _ => Begin::Word,
        };
        (clue, Rule::new(kind, begin, reach, pattern, test))
    };
    let command = |(names, pattern): &(&'static str, &str)| {
        (*names, Rule::new(PASSWORD, Begin::Command, (0, LONG), pattern, Argument))
    };
    let tokens = TOKENS.iter().map(|row| token(row, Filled));
    let random = RANDOM_TOKENS.iter().map(|row| token(row, Random));
    let places = PLACES.iter().map(place);
    tokens.chain(random).chain(places).chain(COMMANDS.iter().map(command)).collect()
}

impl Rule {
    fn new(
        kind: SecretKind,
        begin: Begin,
        reach: (usize, usize),
        pattern: &str,
        test: Test,
    ) -> Self {
        Self { kind, begin, reach, pattern: Pattern::new(pattern), test }
    }

    /// Whether the rule finds a token. Other tokens that begin within it are parts of it.
    pub(super) fn is_token(&self) -> bool {
        self.begin == Begin::Token
    }

    /// Returns the confidence of a match beside a clue. A token ranks above a value beside a word,
    /// and one with a longer prefix above others.
    pub(super) fn sure(&self, clue: &Range<usize>) -> usize {
        match (self.begin, self.test) {
            (Begin::Token, _) => 10 + clue.len(),
            (_, Cookies | Argument) => 1,
            (Begin::Word, Filled) => 3,
            _ => 2,
        }
    }

    /// Returns the secrets that the rule finds beside a clue.
    pub(super) fn beside(&self, text: &str, clue: &Range<usize>) -> Vec<Range<usize>> {
        let reach = text.floor_char_boundary(clue.end + self.reach.1);
        let mut found = Vec::new();
        let mut at = clue.end;
        while let Some((whole, value)) = self.match_at(text, clue, at..reach) {
            if text.get(value.clone()).is_some_and(|value| self.test.passes(value)) {
                let start = if self.begin == Begin::Token { whole.start } else { value.start };
                // The rest of a long one, of which the test has seen enough.
                let more = if value.end == reach { token_bytes(text, reach) } else { 0 };
                found.push(start..value.end + more);
            }
            if self.test != Cookies {
                break;
            }
            at = whole.end;
        }
        found
    }

    /// Returns what the pattern matches, and the value in it.
    fn match_at(
        &self,
        text: &str,
        clue: &Range<usize>,
        span: Range<usize>,
    ) -> Option<(Range<usize>, Range<usize>)> {
        let before = text.get(..clue.start)?;
        let begin = match self.begin {
            Begin::Token => begins_at(before, text.get(clue.clone())?).then_some(clue.start)?,
            Begin::Command => {
                let is_name = !before.ends_with(is_in_name);
                (is_name && text.get(span.start..)?.starts_with([' ', '\t']))
                    .then_some(span.start)?
            }
            Begin::Behind => span.start,
            Begin::Word => {
                let bytes = before.bytes().rev().take(self.reach.0);
                clue.start - bytes.take_while(|byte| !byte.is_ascii_whitespace()).count()
            }
        };
        let found = self.pattern.at(text, text.ceil_char_boundary(begin)..span.end)?;
        let mut value = found.value;
        if self.begin == Begin::Token && value.end < span.end {
            let token = text.get(value.clone())?;
            value.end -= token.len() - token.trim_end_matches(['.', '-', '/']).len();
        }
        Some((found.whole, value))
    }
}

impl Test {
    fn passes(self, value: &str) -> bool {
        let sent = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() || c == '=';
        let is_port =
            || value.len() <= 11 && value.bytes().all(|b| b.is_ascii_digit() || b == b':');
        match self {
            Any => true,
            Filled => !is_filler(value),
            Random | Cookies => is_random(value) && !is_placeholder(value),
            Sent => value.len() >= 8 && value.chars().skip(1).any(sent) && !is_placeholder(value),
            Given => {
                let lower = value.to_ascii_lowercase();
                let is_explained = EXPLAINED.contains(&lower.as_str())
                    || value.starts_with('[') && value.contains(']');
                value.len() >= 3 && !is_explained && !is_placeholder(value)
            }
            // `-p/a/b` and `-port` belong to another command on the line.
            Argument => {
                let other = value.starts_with(['/', '-']) || is_port();
                let name = value.split('=').next().unwrap_or_default();
                !other && !["ort", "rotocol", "lugin-dir"].contains(&name) && Given.passes(value)
            }
        }
    }
}

/// Returns the tokens without a prefix. In other text it reads one byte in [`SHAPE_BYTES_MIN`].
pub(super) fn shapes(text: &str) -> Vec<Range<usize>> {
    static PATTERNS: LazyLock<Pattern> = LazyLock::new(|| Pattern::new(&SHAPES.join("|")));
    let bytes = text.as_bytes();
    let is_part = |byte: u8| SHAPE_BYTES.get(usize::from(byte)).is_some_and(|is_part| *is_part);
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(run) = bytes.get(start..start + SHAPE_BYTES_MIN) {
        if let Some(stop) = run.iter().rposition(|byte| !is_part(*byte)) {
            start += stop + 1;
            continue;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        let end = start + rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
        let value = text.get(start..end).unwrap_or_default().trim_end_matches(['.', '-']);
        if value.len() <= SECRET_SHAPE_BYTES_MAX && PATTERNS.is_in(value) && !is_filler(value) {
            found.push(start..start + value.len());
        }
        start = end + 1;
    }
    found
}

/// Returns a private key, from its first line at `start`. One that is cut off ends where the text
/// no longer looks like one.
pub(super) fn key_block(text: &str, start: usize) -> Option<Range<usize>> {
    static CUT: LazyLock<Pattern> = LazyLock::new(|| Pattern::new(r"[\w\s+/=\\:,-]*[\w+/=]"));
    let end = text.floor_char_boundary(start + KEY_BLOCK_BYTES_MAX);
    let near = text.get(start..end)?;
    let (label, rest) = near.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    (label.len() <= 60 && label.contains("PRIVATE KEY")).then_some(())?;
    let is_code = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let (body, end, is_key) = if let Some((body, last)) = rest.split_once("-----END ") {
        let last = last.split_once("-----").map_or(last, |(_, after)| after);
        (body, end - last.len(), body.matches(is_code).count() >= 40)
    } else {
        // The text after the first line may be prose about keys.
        let body = rest.get(CUT.at(rest, 0..rest.len())?.whole)?;
        let mut pieces = body.split(|c: char| !is_code(c) || c == '=');
        let is_key = pieces.any(|piece| {
            // With these signs, a value would pass for a path.
            piece.len() >= CUT_KEY_CHARS && is_random(&piece.replace(['+', '/'], ""))
        });
        (body, end - rest.len() + body.len(), is_key)
    };
    (is_key && !body.contains("...")).then_some(start..end)
}

/// Whether a clue begins a token. One of letters and digits also occurs within hashes and base64,
/// where `/` and `+` are digits too. A file may begin with the same digits as a token.
fn begins_at(before: &str, clue: &str) -> bool {
    let is_plain = clue.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_word = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_escape = [r"\n", r"\t", r"\r"].iter().any(|escape| before.ends_with(escape));
    !is_plain && clue.len() >= 4
        || (!is_word || is_escape)
            && !(is_plain && (before.ends_with(['/', '+']) || before.ends_with(";base64,")))
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$')
}

/// Returns how many bytes from `at` on a token may consist of.
pub(super) fn token_bytes(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    rest.iter().position(|byte| !is_token_byte(*byte)).unwrap_or(rest.len())
}

/// Whether a token may have this byte.
pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./+=".contains(&byte)
}
