//! Tokens recognised by their prefix.

use std::ops::Range;

use super::alphabet::Alphabet;
use super::runs::Runs;
use super::values::is_filler;

/// A form of token.
#[derive(Debug)]
pub(super) struct Token {
    /// The prefix, case-sensitive.
    pub(super) prefix: &'static str,
    /// The kind of token.
    pub(super) kind: &'static str,
    body: Body,
}

/// The part after the prefix.
#[derive(Clone, Copy, Debug)]
enum Body {
    /// At least this many characters of the alphabet.
    Long(Alphabet, usize),
    /// Exactly this many characters of the alphabet.
    Exact(Alphabet, usize),
    /// At least this many characters that are not words, for prefixes that words also begin with.
    Random(Alphabet, usize),
}

use Alphabet::{Alnum, Dash, Dots, Hex, Path, Slash, Upper, UpperDash, Word};
use Body::{Exact, Long, Random};

const fn token(prefix: &'static str, kind: &'static str, body: Body) -> Token {
    Token { prefix, kind, body }
}

/// The known forms.
pub(super) const TOKENS: &[Token] = &[
    token("AKIA", "AWS key", Exact(Upper, 16)),
    token("ASIA", "AWS key", Exact(Upper, 16)),
    token("ABIA", "AWS key", Exact(Upper, 16)),
    token("ACCA", "AWS key", Exact(Upper, 16)),
    token("ABSK", "AWS key", Long(Slash, 100)),
    token("ghp_", "GitHub token", Long(Alnum, 30)),
    token("gho_", "GitHub token", Long(Alnum, 30)),
    token("ghu_", "GitHub token", Long(Alnum, 30)),
    token("ghs_", "GitHub token", Long(Word, 30)),
    token("ghr_", "GitHub token", Long(Alnum, 30)),
    token("github_pat_", "GitHub token", Long(Word, 40)),
    token("glpat-", "GitLab token", Long(Dots, 20)),
    token("gldt-", "GitLab token", Long(Dash, 20)),
    token("glptt-", "GitLab token", Long(Dash, 40)),
    token("glrt-", "GitLab token", Long(Dots, 20)),
    token("glcbt-", "GitLab token", Long(Dash, 20)),
    token("glft-", "GitLab token", Long(Dash, 20)),
    token("glimt-", "GitLab token", Long(Dash, 20)),
    token("glagent-", "GitLab token", Long(Dash, 40)),
    token("glsoat-", "GitLab token", Long(Dash, 20)),
    token("gloas-", "GitLab token", Long(Dash, 40)),
    token("GR1348941", "GitLab token", Long(Dash, 20)),
    token("glffct-", "GitLab token", Long(Dash, 20)),
    token("ATBB", "Bitbucket token", Exact(Alnum, 32)),
    token("ATATT3", "Atlassian token", Long(Slash, 60)),
    token("ATCTT3", "Atlassian token", Long(Slash, 60)),
    token("AIza", "Google API key", Exact(Dash, 35)),
    token("GOCSPX-", "Google client secret", Long(Dash, 24)),
    token("ya29.", "Google access token", Long(Dash, 20)),
    token("1//0", "Google refresh token", Random(Dash, 40)),
    token("sk-ant-", "Anthropic key", Long(Dash, 20)),
    token("sk-proj-", "OpenAI key", Long(Dash, 20)),
    token("sk-svcacct-", "OpenAI key", Long(Dash, 20)),
    token("sk-admin-", "OpenAI key", Long(Dash, 20)),
    token("sk-or-v1-", "OpenRouter key", Long(Hex, 32)),
    token("sk-", "API key", Random(Dash, 20)),
    token("sk_live_", "Stripe key", Long(Alnum, 10)),
    token("sk_test_", "Stripe key", Long(Alnum, 10)),
    token("rk_live_", "Stripe key", Long(Alnum, 10)),
    token("rk_test_", "Stripe key", Long(Alnum, 10)),
    token("whsec_", "webhook secret", Random(Slash, 20)),
    token("xoxb-", "Slack token", Long(Dash, 20)),
    token("xoxp-", "Slack token", Long(Dash, 20)),
    token("xoxa-", "Slack token", Long(Dash, 20)),
    token("xoxr-", "Slack token", Long(Dash, 20)),
    token("xoxs-", "Slack token", Long(Dash, 20)),
    token("xoxo-", "Slack token", Long(Dash, 20)),
    token("xoxe-", "Slack token", Long(Dash, 20)),
    token("xoxe.", "Slack token", Long(Dots, 20)),
    token("hooks.slack.com/workflows/", "Slack webhook", Long(Slash, 30)),
    token("hooks.slack.com/triggers/", "Slack webhook", Long(Slash, 30)),
    token("xapp-", "Slack token", Long(Dash, 20)),
    token("hooks.slack.com/services/", "Slack webhook", Long(Slash, 30)),
    token("discord.com/api/webhooks/", "Discord webhook", Long(Slash, 40)),
    token("discordapp.com/api/webhooks/", "Discord webhook", Long(Slash, 40)),
    token("office.com/webhook/", "Teams webhook", Long(Path, 60)),
    token("office.com/webhookb2/", "Teams webhook", Long(Path, 60)),
    token("hf_", "Hugging Face token", Long(Alnum, 30)),
    token("api_org_", "Hugging Face token", Exact(Alnum, 34)),
    token("npm_", "npm token", Exact(Alnum, 36)),
    token("pypi-AgE", "PyPI token", Long(Dash, 40)),
    token("rubygems_", "RubyGems key", Exact(Hex, 48)),
    token("cio", "crates.io token", Exact(Alnum, 32)),
    token("dckr_pat_", "Docker token", Long(Dash, 20)),
    token("dckr_oat_", "Docker token", Long(Dash, 20)),
    token("SG.", "SendGrid key", Random(Dots, 60)),
    token("key-", "Mailgun key", Exact(Hex, 32)),
    token("xkeysib-", "Brevo key", Long(Dash, 60)),
    token("dop_v1_", "DigitalOcean token", Long(Hex, 60)),
    token("doo_v1_", "DigitalOcean token", Long(Hex, 60)),
    token("dor_v1_", "DigitalOcean token", Long(Hex, 60)),
    token("dapi", "Databricks token", Exact(Hex, 32)),
    token("dp.pt.", "Doppler token", Long(Alnum, 40)),
    token("dp.st.", "Doppler token", Long(Dots, 40)),
    token("lin_api_", "Linear key", Long(Alnum, 32)),
    token("lin_oauth_", "Linear token", Long(Alnum, 32)),
    token("ntn_", "Notion token", Long(Alnum, 40)),
    token("secret_", "Notion token", Exact(Alnum, 43)),
    token("shpat_", "Shopify token", Long(Hex, 32)),
    token("shpca_", "Shopify token", Long(Hex, 32)),
    token("shppa_", "Shopify token", Long(Hex, 32)),
    token("shpss_", "Shopify token", Long(Hex, 32)),
    token("sq0atp-", "Square token", Long(Dash, 22)),
    token("sq0csp-", "Square token", Long(Dash, 40)),
    token("hvs.", "Vault token", Long(Dash, 24)),
    token("hvb.", "Vault token", Long(Dash, 60)),
    token("hvr.", "Vault token", Long(Dash, 60)),
    token("AGE-SECRET-KEY-1", "age key", Long(Upper, 50)),
    token("glsa_", "Grafana token", Long(Word, 32)),
    token("glc_", "Grafana token", Long(Slash, 32)),
    token("sntrys_", "Sentry token", Long(Slash, 40)),
    token("sntryu_", "Sentry token", Long(Hex, 60)),
    token("PMAK-", "Postman key", Long(Dash, 50)),
    token("pul-", "Pulumi token", Exact(Hex, 40)),
    token("pscale_tkn_", "PlanetScale token", Long(Dots, 32)),
    token("pscale_pw_", "PlanetScale password", Long(Dots, 32)),
    token("pscale_oauth_", "PlanetScale token", Long(Dots, 32)),
    token("sbp_", "Supabase token", Exact(Hex, 40)),
    token("sb_secret_", "Supabase key", Long(Dash, 20)),
    token("fm2_", "Fly.io token", Long(Slash, 80)),
    token("fo1_", "Fly.io token", Long(Dash, 40)),
    token("nfp_", "Netlify token", Long(Alnum, 36)),
    token("figd_", "Figma token", Long(Dash, 36)),
    token("gsk_", "Groq key", Long(Alnum, 40)),
    token("r8_", "Replicate token", Exact(Alnum, 37)),
    token("pplx-", "Perplexity key", Long(Alnum, 40)),
    token("xai-", "xAI key", Long(Alnum, 60)),
    token("tskey-", "Tailscale key", Long(Dash, 20)),
    token("NRAK-", "New Relic key", Exact(Upper, 27)),
    token("HRKU-", "Heroku key", Long(Dash, 36)),
    token("CFPAT-", "Contentful token", Long(Dash, 40)),
    token("bkua_", "Buildkite token", Long(Hex, 40)),
    token("CCIPAT_", "CircleCI token", Long(Word, 40)),
    token("lsv2_pt_", "LangSmith key", Long(Word, 32)),
    token("lsv2_sk_", "LangSmith key", Long(Word, 32)),
    token("tvly-", "Tavily key", Random(Dash, 20)),
    token("ops_eyJ", "1Password token", Long(Slash, 200)),
    token("ddp_", "Datadog key", Exact(Alnum, 36)),
    token("EZAK", "EasyPost key", Exact(Alnum, 54)),
    token("duffel_live_", "Duffel token", Long(Dash, 40)),
    token("waka_", "WakaTime key", Long(Dash, 36)),
    token("duffel_test_", "Duffel token", Long(Dash, 40)),
    token("EZTK", "EasyPost key", Exact(Alnum, 54)),
    token("EAAA", "Square token", Random(Dash, 56)),
    token("EAAC", "Facebook token", Random(Alnum, 100)),
    token("EAAM", "Facebook token", Random(Alnum, 100)),
    token("oy2", "NuGet key", Exact(Alnum, 43)),
    token("CLOJARS_", "Clojars token", Long(Alnum, 60)),
    token("NRII-", "New Relic key", Long(Dash, 30)),
    token("AKCp", "Artifactory key", Exact(Alnum, 69)),
    token("cmVmd", "Artifactory token", Exact(Alnum, 59)),
    token("dt0c01.", "Dynatrace token", Long(Dots, 80)),
    token("LTAI", "Alibaba key", Random(Alnum, 16)),
    token("AKID", "Tencent key", Exact(Alnum, 32)),
    token("AQVN", "Yandex key", Random(Dash, 35)),
    token("fio-u-", "Frame.io token", Long(Dash, 60)),
    token("fw_", "Fireworks key", Random(Alnum, 22)),
    token("FLWSECK_TEST-", "Flutterwave key", Long(Dash, 12)),
    token("FLWSECK-", "Flutterwave key", Long(Dash, 12)),
    token("rzp_live_", "Razorpay key", Exact(Alnum, 14)),
    token("rzp_test_", "Razorpay key", Exact(Alnum, 14)),
    token("tfp_", "Typeform token", Long(Dots, 40)),
    token("rdme_", "ReadMe key", Long(Alnum, 60)),
    token("pnu_", "Prefect key", Exact(Alnum, 36)),
    token("shippo_live_", "Shippo token", Long(Hex, 40)),
    token("shippo_test_", "Shippo token", Long(Hex, 40)),
    token("sgp_", "Sourcegraph token", Long(Word, 40)),
    token("dG9rOm", "Intercom token", Long(Slash, 50)),
    token("v1.0-", "Cloudflare key", Long(Dash, 160)),
    token("ico-", "Infracost key", Exact(Alnum, 32)),
    token("sk.eyJ1", "Mapbox token", Long(Dots, 60)),
    token("eyJrIjoi", "Grafana key", Long(Slash, 50)),
    token("sl.", "Dropbox token", Random(Dash, 100)),
    token("A3-", "1Password key", Random(UpperDash, 33)),
    token("sm_pat_", "SettleMint token", Exact(Alnum, 16)),
    token("sm_aat_", "SettleMint token", Exact(Alnum, 16)),
    token("tk-us-", "Scalingo token", Long(Dash, 48)),
    token("p8e-", "Adobe secret", Exact(Alnum, 32)),
    token("dnkey-", "Defined Networking token", Long(Dash, 70)),
    token("4b1d", "ClickHouse key", Exact(Alnum, 38)),
    token("pat-na1-", "HubSpot token", Long(Dash, 36)),
    token("pat-eu1-", "HubSpot token", Long(Dash, 36)),
    token("lsv2_", "LangSmith key", Long(Word, 40)),
    token("sk_prod_", "Stripe key", Long(Alnum, 10)),
];

impl Token {
    /// Returns the range of the token that begins with `hit`. `None` if it is not a token, or if a
    /// match with more confidence has the same end.
    pub(super) fn at(&self, runs: &mut Runs<'_>, hit: Range<usize>) -> Option<Range<usize>> {
        let text = runs.text;
        if !text.get(hit.start..)?.starts_with(self.prefix) || !self.may_begin(text, hit.start) {
            return None;
        }
        let (Long(alphabet, bytes_min) | Exact(alphabet, bytes_min) | Random(alphabet, bytes_min)) =
            self.body;
        let run = runs.at(alphabet, hit.end)?;
        let bytes = run.end.saturating_sub(hit.end);
        let fits = match self.body {
            Long(..) => bytes >= bytes_min,
            Exact(..) => bytes == bytes_min,
            Random(..) => {
                bytes >= bytes_min && run.sure < self.sure() && run.is_random_from(hit.end)
            }
        };
        if !fits || run.sure >= self.sure() || run.is_filler_from(hit.end) {
            return None;
        }
        run.sure = self.sure();
        Some(hit.start..run.end)
    }

    /// Whether a token may begin here. A prefix of letters and digits also occurs within hashes and
    /// base64, where `/` and `+` are digits too.
    fn may_begin(&self, text: &str, start: usize) -> bool {
        if self.prefix.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            let before = text.get(..start).unwrap_or_default();
            return begins_at(text, start) && !before.ends_with(['/', '+']);
        }
        self.prefix.len() >= 4 || begins_at(text, start)
    }

    /// Returns the confidence of a match: `sk-ant-` is more specific than `sk-`.
    pub(super) fn sure(&self) -> usize {
        10 + self.prefix.len()
    }
}

/// Returns a JSON web token: three parts of base64, the first two JSON objects (RFC 7519). `None`
/// if one with the same signature was judged before, because that one began earlier.
pub(super) fn jwt(runs: &mut Runs<'_>, hit: Range<usize>) -> Option<Range<usize>> {
    let text = runs.text;
    if !text.get(hit.start..)?.starts_with("eyJ") || !begins_at(text, hit.start) {
        return None;
    }
    let run = runs.at(Dots, hit.end)?;
    let mut dots = run.dots_from(hit.start);
    let (head, claims, end) = (dots.next()?, dots.next()?, dots.next()?);
    let sound = head - hit.start >= 12
        && text.get(head + 1..claims)?.starts_with("ey")
        && claims - head > 12
        && end - claims > 16;
    drop(dots);
    if !sound || run.signed == Some(claims) {
        return None;
    }
    run.signed = Some(claims);
    (!is_filler(text.get(claims + 1..end)?)).then_some(hit.start..end)
}

/// Whether no word continues into `start`. The letter of an escape such as `\n` does not count as
/// part of a word.
fn begins_at(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default().as_bytes();
    match before {
        [] | [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., last] => !(last.is_ascii_alphanumeric() || *last == b'_'),
    }
}
