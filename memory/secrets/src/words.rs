//! Words that announce a secret value beside them.

/// The kind of value that a word announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A value that a person chose: short, with some meaning.
    Password,
    /// A password whose owner comes before the word: `db_pass`, not `high_pass`.
    Pass,
    /// A value from a generator.
    Secret,
    /// A password, if no letter comes before the word: `pw`, not `rpw`.
    Short,
    /// A generated value, unless the text before the word says otherwise: `fernet_key`, not
    /// `cache_key`.
    Key,
    /// A password after a user name: `creds: bob / hunter2`.
    Login,
}

impl Word {
    /// Whether the values come from a generator.
    pub(super) fn is_generated(self) -> bool {
        matches!(self, Self::Secret | Self::Key)
    }
}

/// The words, matched in any case and within longer names: `DB_PASSWORD`, `clientSecret`. Letters
/// other than ASCII match in one case alone.
pub(super) const WORDS: &[(Word, &str)] = &[
    (Word::Password, "password|passwd|passphrase|passcode|passwort|passwrd|pswd|kennwort"),
    (Word::Password, "wachtwoord|contraseña|CONTRASEÑA|mot de passe|hasło|HASŁO|lösenord|LÖSENORD"),
    (Word::Password, "salasana|adgangskode|jelszó|пароль|Пароль|ПАРОЛЬ"),
    (Word::Password, "密码|密碼|口令|パスワード|비밀번호"),
    (Word::Pass, "_pass"),
    (Word::Secret, "secret|secretkey|secret key|token|-token|credential|preshared|salt"),
    (Word::Secret, "api_key|apikey|api-key|api key|app_key|app-key|auth_key|authkey"),
    (Word::Secret, "access_key|accesskey|access-key|access key|private_key|privatekey|private-key"),
    (Word::Secret, "signing_key|signingkey|signing-key|signing key|subscription-key"),
    (Word::Secret, "encryption_key|encryptionkey|encryption key|2fa seed|totp seed"),
    (Word::Secret, "account_key|accountkey|account key|master_key|masterkey|master key"),
    (Word::Key, "_key|-key"),
    (Word::Login, "credential|creds|login|auth"),
    (Word::Short, "pass|pw|pwd|psw|clave|senha|parola|parole|heslo|sifre"),
];

/// Words before `key` that mark it as not secret.
pub(super) const OPEN_KEYS: &str = "public pub cache primary foreign sort partition object s3 row \
    lookup hash index group routing map dedup dedupe idempotency range unique natural candidate \
    composite join message translation i18n registry config query storage bucket shard hot arrow \
    event job lock file";

/// Parts of names whose value is about a secret, but is not one.
pub(super) const ABOUT: &str = "hash sha digest checksum fingerprint count limit budget max min len \
    size type name url uri path file dir expir ttl prefix format version policy field pattern chang \
    updat rotat reset address";

/// Owners whose password is called their `pass`. Any other pass is a step or a filter.
pub(super) const OWNERS: &str = "account admin amqp app auth backup basic become bind cert client \
    database db default deploy docker elastic email ftp git grafana http imap jdbc kafka key \
    keystore ldap login mail mariadb master mongo mongodb mqtt mysql pg pop3 postgres rabbitmq \
    redis registry root rpc server service sftp sip smb smtp sql ssh sudo superuser truststore user \
    vpn wifi zip";

/// Words that lead from a name to its value or to the owner of the value, in the languages of the
/// names: `the password is …`, `das Passwort für staging ist …`.
pub(super) const LINKS: &str = "is for of to on in at ist lautet für fuer vom von des der zu zum \
    im est pour de du es del para é do da è per voor van jest är till от для";

/// Ends of what comes before a word that make it a position in a list, not a secret.
pub(super) const PLACES: [&str; 4] = ["next", "page", "continuation", "cursor"];
