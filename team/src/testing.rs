//! A Postgres server in a scratch directory, and a proxy that cuts connections to it.
//!
//! For tests. Both use threads and blocking calls alone, so a test of any kind can use them. A
//! server ends with its [`Server`], also when the test panics.

// Tests of this crate include this file by its path.
#[path = "testing/proxy.rs"]
mod proxy;

use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

pub use self::proxy::{Cut, Proxy};

/// The attempts to reach a server that starts, at 20 ms each.
const START_ATTEMPTS_MAX: u32 = 1_500;

/// The start of the message that commits an append. No other message contains it.
pub const COMMIT: &str = "COMMIT;";

/// A running server. Its superuser is `postgres`. Nobody needs a password, unless a test changes
/// `pg_hba.conf`.
#[derive(Debug)]
pub struct Server {
    bin: PathBuf,
    dir: PathBuf,
    port: u16,
    options: Vec<String>,
    process: Option<Child>,
    watchdog: Option<Child>,
}

impl Server {
    /// Starts a server without fsync. Returns `None` and prints a line if Postgres is not
    /// installed.
    pub fn start() -> Option<Self> {
        Self::start_with(&["fsync=off", "full_page_writes=off"])
    }

    /// Starts a server with these settings, each as `name=value`.
    pub fn start_with(settings: &[&str]) -> Option<Self> {
        let bin = installed()?;
        let dir = scratch_dir();
        run(as_server(Path::new("cp")).arg("-r").arg(new_cluster(&bin)).arg(dir.join("data")));
        Some(Self::launch(bin, dir, settings))
    }

    /// Starts a hot standby of this server. With `name`, it calls itself by it, so that
    /// `synchronous_standby_names` of this server can require it.
    #[must_use]
    pub fn start_standby(&self, name: &str) -> Self {
        let dir = scratch_dir();
        let data = dir.join("data");
        let mut backup = as_server(&self.bin.join("pg_basebackup"));
        backup
            .args(["--username=postgres", "--write-recovery-conf", "--checkpoint=fast"])
            .args(["--no-sync", "--wal-method=stream", "-h"])
            .arg(&self.dir)
            .arg(format!("--port={}", self.port))
            .arg("-D")
            .arg(&data);
        run(&mut backup);
        let from = format!(
            "primary_conninfo=host={} port={} user=postgres application_name={name}",
            self.dir.display(),
            self.port
        );
        Self::launch(self.bin.clone(), dir, &["fsync=off", &from])
    }

    fn launch(bin: PathBuf, dir: PathBuf, settings: &[&str]) -> Self {
        let options = settings.iter().map(|&setting| setting.to_owned()).collect();
        let port = free_port();
        let mut server = Self { bin, dir, port, options, process: None, watchdog: None };
        server.restart();
        server
    }

    /// Returns the URL of the database `postgres` for a role, over a loopback port without TLS.
    pub fn url(&self, user: &str) -> String {
        url(user, self.port)
    }

    /// Returns the URL over the Unix socket.
    pub fn socket_url(&self, user: &str) -> String {
        let dir = self.dir.display().to_string().replace('/', "%2F");
        format!("postgres://{user}@{dir}:{}/postgres", self.port)
    }

    /// Returns the loopback port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the directory with the cluster, in `data`. The server's user owns it.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Stops the server as a crash would, and waits for its end.
    pub fn stop_immediate(&mut self) {
        let Some(mut process) = self.unwatched() else { return };
        // SIGQUIT is Postgres's immediate shutdown. Its own children end with it.
        let signal = Command::new("kill").arg("-QUIT").arg(process.id().to_string()).status();
        let is_signalled = signal.is_ok_and(|status| status.success());
        let ended =
            is_signalled && poll(|| process.try_wait().is_ok_and(|status| status.is_some()));
        if !ended {
            let _ = process.kill();
        }
        let _ = process.wait();
    }

    /// Kills the server, as the end of its machine would, and waits until it is gone.
    pub fn kill(&mut self) {
        let Some(mut process) = self.unwatched() else { return };
        let _ = process.kill();
        let _ = process.wait();
        // Its children see the end of their parent, and then end without a word.
        let address = (Ipv4Addr::LOCALHOST, self.port);
        assert!(poll(|| TcpStream::connect(address).is_err()), "nobody listens any more");
    }

    /// Returns the process, after ending its watchdog. Its id may be another process's later.
    fn unwatched(&mut self) -> Option<Child> {
        if let Some(mut watchdog) = self.watchdog.take() {
            let _ = watchdog.kill();
            let _ = watchdog.wait();
        }
        self.process.take()
    }

    /// Makes a standby the primary, and waits until it takes writes.
    pub fn promote(&self) {
        let promoted = self.psql("SELECT pg_promote(true, 30)");
        assert_eq!(promoted, "t", "{}", self.log());
    }

    /// Returns whether a standby of this name confirms what this server commits.
    pub fn has_standby(&self, name: &str) -> bool {
        let sql = format!(
            "SELECT count(*) FROM pg_stat_replication \
             WHERE application_name = '{name}' AND sync_state = 'sync'"
        );
        self.psql(&sql) == "1"
    }

    /// Starts the server again, or for the first time, and waits until it answers.
    pub fn restart(&mut self) {
        self.stop_immediate();
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.log_file());
        let log = log.expect("the scratch directory is writable");
        let mut command = as_server(&self.bin.join("postgres"));
        command.arg("-D").arg(self.dir.join("data")).args(["-p", &self.port.to_string(), "-k"]);
        command.arg(&self.dir).args(["-c", "listen_addresses=127.0.0.1"]);
        for option in &self.options {
            command.args(["-c", option]);
        }
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let process = command.spawn().expect("postgres starts");
        self.watchdog = Some(watch(&process, &self.dir));
        self.process = Some(process);
        let answers = || self.psql_as("postgres", "SELECT 1").is_ok();
        let answer = || self.psql_as("postgres", "SELECT 1");
        assert!(poll(answers), "the server does not answer: {:?}\n{}", answer(), self.log());
    }

    /// Changes a setting of a running server, as by `ALTER SYSTEM`.
    pub fn set(&self, name: &str, value: &str) {
        let _ = self.psql(&format!("ALTER SYSTEM SET {name} = '{value}'"));
        let _ = self.psql("SELECT pg_reload_conf()");
        let shown = || self.psql(&format!("SHOW {name}")) == value;
        assert!(poll(shown), "{name} does not become {value}");
    }

    /// Asks for passwords on the loopback port from now on. The Unix socket still needs none.
    pub fn require_passwords(&self) {
        let hba = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        std::fs::write(self.dir.join("data/pg_hba.conf"), hba).expect("the file is writable");
        let _ = self.psql("SELECT pg_reload_conf()");
        let loaded = || self.psql("SELECT count(*) FROM pg_hba_file_rules") == "2";
        assert!(poll(loaded), "the server does not read pg_hba.conf");
    }

    /// Runs SQL as the superuser and returns the rows, without headers. Panics on an error.
    pub fn psql(&self, sql: &str) -> String {
        self.psql_as("postgres", sql).expect("the superuser's SQL runs")
    }

    /// Runs SQL as a role. Returns the rows, or else the error's text.
    pub fn psql_as(&self, user: &str, sql: &str) -> Result<String, String> {
        let output = Command::new(self.bin.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h"])
            .arg(&self.dir)
            .args(["-p", &self.port.to_string(), "-U", user, "-d", "postgres", "-c", sql])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Returns the database as `pg_dump` writes it.
    pub fn dump(&self) -> String {
        let mut dump = Command::new(self.bin.join("pg_dump"));
        dump.arg("-h").arg(&self.dir).args(["-p", &self.port.to_string(), "-U", "postgres"]);
        run(&mut dump)
    }

    /// Runs what [`dump`](Self::dump) has returned.
    pub fn restore(&self, dump: &str) {
        let file = self.dir.join("dump.sql");
        std::fs::write(&file, dump).expect("the scratch directory is writable");
        let mut restore = Command::new(self.bin.join("psql"));
        restore.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h"]).arg(&self.dir);
        restore.args(["-p", &self.port.to_string(), "-U", "postgres", "-f"]).arg(&file);
        let _ = run(&mut restore);
    }

    /// Gives a file of the cluster to the server's user, readable by it alone.
    pub fn own(&self, name: &str) {
        let file = self.dir.join("data").join(name);
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&file, mode).expect("the file is ours");
        if let Some((uid, gid)) = server_user() {
            std::os::unix::fs::chown(&file, Some(uid), Some(gid)).expect("root may");
        }
    }

    /// Returns what the server has logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.dir.join("log")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop_immediate();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Polls every 20 ms, for at most 30 s, until it holds.
pub fn poll(holds: impl FnMut() -> bool) -> bool {
    let mut holds = holds;
    (0..START_ATTEMPTS_MAX).any(|_| {
        holds() || {
            thread::sleep(Duration::from_millis(20));
            false
        }
    })
}

/// Finds the directory of the server's programs: that of the `postgres` in PATH, or else the newest
/// of Debian's.
fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // PATH may have links to some of the programs.
    let in_path = std::env::split_paths(&path).filter_map(|dir| {
        let postgres = dir.join("postgres").canonicalize().ok()?;
        postgres.parent().map(Path::to_owned)
    });
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<(Option<u32>, PathBuf)> = debian
        .map(|version| {
            (version.file_name().to_string_lossy().parse().ok(), version.path().join("bin"))
        })
        .collect();
    debian.sort_by(|one, two| two.cmp(one));
    let programs = ["postgres", "initdb", "psql", "pg_basebackup"];
    let found = in_path
        .chain(debian.into_iter().map(|(_, bin)| bin))
        .find(|bin| programs.iter().all(|program| bin.join(program).is_file()));
    if found.is_none() {
        print_skipped();
    }
    found
}

#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn print_skipped() {
    eprintln!("SKIPPED: PostgreSQL's server is neither in PATH nor in /usr/lib/postgresql");
}

/// Returns a command that runs as another user if this one is root, whom Postgres refuses.
fn as_server(program: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some((uid, gid)) = server_user() {
        command.uid(uid).gid(gid);
    }
    // Without the caller's settings, such as PGDATA and PGHOST.
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.current_dir("/");
    command
}

/// Returns the user `postgres`, or else `nobody`, if this process is root.
fn server_user() -> Option<(u32, u32)> {
    if !is_root() {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    Some(ids("postgres").or_else(|| ids("nobody")).unwrap_or((65_534, 65_534)))
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}

/// Makes a short directory, since the path of a Unix socket has at most 107 bytes.
fn scratch_dir() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("anchord-pg-{}-{count}", std::process::id());
    let dir = std::env::temp_dir().join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir(&dir).expect("the directory for temporary files is writable");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&dir, mode).expect("it is ours");
    if let Some((uid, gid)) = server_user() {
        std::os::unix::fs::chown(&dir, Some(uid), Some(gid)).expect("root may");
    }
    dir
}

/// Returns a cluster that no server has started. It is made once, since `initdb` takes ten times as
/// long as a copy.
fn new_cluster(bin: &Path) -> &'static Path {
    static MADE: OnceLock<(PathBuf, Child)> = OnceLock::new();
    let (cluster, _watchdog) = MADE.get_or_init(|| {
        let dir = scratch_dir();
        let watchdog = at_end("rm -rf \"$1\"", &[dir.as_os_str()]);
        let cluster = dir.join("data");
        let mut init = as_server(&bin.join("initdb"));
        init.args(["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8"])
            .args(["--no-instructions", "--locale=C"])
            .arg("-D")
            .arg(&cluster);
        run(&mut init);
        (cluster, watchdog)
    });
    cluster
}

/// Starts a shell that ends a server once this process is gone.
fn watch(server: &Child, dir: &Path) -> Child {
    let server = server.id().to_string();
    at_end("kill -QUIT \"$1\"; rm -rf \"$2\"", &[server.as_ref(), dir.as_os_str()])
}

/// Starts a shell that runs a script once this process is gone, even by SIGKILL. The shell's input
/// ends then.
fn at_end(script: &str, args: &[&OsStr]) -> Child {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("read _; {script}"), "watchdog"]).args(args);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A signal for the test's group, such as Ctrl-C, does not end it first.
    shell.process_group(0).spawn().expect("sh starts")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    listener.local_addr().expect("it is bound").port()
}

fn url(user: &str, port: u16) -> String {
    format!("postgres://{user}@127.0.0.1:{port}/postgres?sslmode=disable")
}

/// Runs a program and returns its output. Panics if it fails.
fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
