//! A daemon inside the test's process: a real instance with real stores in a temporary directory.
//! Shims talk to it through an in-memory pipe.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anchord_memory::Memory;
use anchord_proto::hello::{Answer, Hello, Resume, Role, Welcome};
use anchord_proto::hook::HookReply;
use anchord_proto::host;
use anchord_proto::instance::InstanceDir;
use anchord_team::Secret;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use uuid::Uuid;

use crate::clock;
use crate::config::{CONFIG_FILE, Config};
use crate::hooks::state::Patience;
use crate::instance::{Host, Instance, Places};
use crate::outlines::Parser;
use crate::project::OpenProjects;
use crate::projects::{Registry, Surroundings};
use crate::registry_store::RegistryStore;
use crate::run::{Daemon, Parts};
use crate::sessions::Joining;
use crate::store::{FileStores, Stores};
use crate::team::{TeamConfig, TeamLinks};
use crate::{sessions, socket};

/// A deadline that ends a test which waits in vain. Nothing here takes so long.
const DEADLINE: Duration = Duration::from_secs(30);

/// A daemon, and a project called `demo` to work in.
pub(crate) struct World {
    pub(crate) daemon: Daemon,
    stores: Factories,
    scratch: tempfile::TempDir,
}

/// The factories of a daemon's stores.
#[derive(Clone, Debug)]
pub(crate) struct Factories {
    pub(crate) memories: Arc<dyn Stores<Memory>>,
    pub(crate) registry: Arc<dyn Stores<Registry>>,
}

impl Factories {
    fn on_disk(scratch: &Path) -> Self {
        let files = Arc::new(FileStores::new(data_of(scratch)));
        Self { memories: files.clone(), registry: files }
    }
}

/// Returns the data directory of the instance in a scratch directory.
pub(crate) fn data_of(scratch: &Path) -> PathBuf {
    scratch.join("instance/data")
}

impl World {
    pub(crate) async fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let stores = Factories::on_disk(scratch.path());
        Self::over(scratch, stores).await
    }

    /// Returns a daemon with this `config.toml`.
    pub(crate) async fn configured(config: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::write(scratch.path().join(CONFIG_FILE), config).unwrap();
        let stores = Factories::on_disk(scratch.path());
        Self::over(scratch, stores).await
    }

    /// Returns a daemon whose hooks have this much time for a load.
    pub(crate) async fn with_patience(patience: Patience) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let stores = Factories::on_disk(scratch.path());
        Self::begun(scratch, stores, patience).await
    }

    /// Returns a daemon over these stores. Files next to them are in `scratch`.
    pub(crate) async fn over(scratch: tempfile::TempDir, stores: Factories) -> Self {
        Self::begun(scratch, stores, Patience::default()).await
    }

    async fn begun(scratch: tempfile::TempDir, stores: Factories, patience: Patience) -> Self {
        let daemon = start(scratch.path(), stores.clone(), false, patience).await;
        let world = Self { daemon, stores, scratch };
        std::fs::create_dir_all(world.directory("demo")).unwrap();
        world
    }

    /// Returns a directory that exists only if a test creates it.
    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        std::fs::canonicalize(self.scratch.path()).unwrap().join(name)
    }

    /// Ends the daemon and starts another in its place, as after a crash or not.
    pub(crate) async fn restart(self, after_crash: bool) -> Self {
        let Self { daemon, stores, scratch } = self;
        daemon.shutdown.start("asked by a test");
        daemon.projects.open.close_all().await;
        daemon.projects.registry.close().await;
        let lock = Arc::downgrade(&daemon.admin.instance);
        drop(daemon);
        // Connections hold the lock until they notice that the daemon stops.
        poll(|| (lock.strong_count() == 0).then_some(())).await;
        let daemon = start(scratch.path(), stores.clone(), after_crash, Patience::default()).await;
        Self { daemon, stores, scratch }
    }

    /// Returns the hello of a shim that runs in the project.
    pub(crate) fn hello(&self) -> Hello {
        hello_from(&self.directory("demo"))
    }

    /// Returns a connected and initialised shim in the project.
    pub(crate) async fn shim(&self) -> Shim {
        let mut shim = self.connect(self.hello()).await;
        shim.initialize("2025-06-18").await;
        shim
    }

    /// Returns a connected and initialised shim in the project, with a tool set.
    pub(crate) async fn shim_with(&self, tools: &str) -> Shim {
        let mut shim = self.connect(Hello { tools: Some(tools.to_owned()), ..self.hello() }).await;
        shim.initialize("2025-06-18").await;
        shim
    }

    /// Returns a shim that was welcomed and has sent nothing more.
    pub(crate) async fn connect(&self, hello: Hello) -> Shim {
        let (mut reader, mut writer) = self.stream();
        writer.write_all(&line_of(&hello)).await.unwrap();
        let welcome = match answer(&mut reader).await {
            Answer::Welcome(welcome) => welcome,
            Answer::Refused(refused) => panic!("refused: {refused}"),
        };
        Shim::new(reader, writer, hello, welcome)
    }

    /// Returns the daemon's answer to a first line.
    pub(crate) async fn greet(&self, line: &[u8]) -> Answer {
        let (mut reader, mut writer) = self.stream();
        writer.write_all(line).await.unwrap();
        answer(&mut reader).await
    }

    /// Returns the output of a hook in the project for an event; empty for none.
    pub(crate) async fn hook(&self, client: &str, event: &Value) -> String {
        let hello = Hello { client: Some(client.to_owned()), ..self.hello() };
        self.hook_by(hello, event).await
    }

    /// Returns the output of a hook with this hello for an event; empty for none.
    pub(crate) async fn hook_by(&self, hello: Hello, event: &Value) -> String {
        let (mut reader, mut writer) = self.stream();
        writer.write_all(&line_of(&Hello { role: Role::Hook, ..hello })).await.unwrap();
        assert!(matches!(answer(&mut reader).await, Answer::Welcome(_)));
        writer.write_all(format!("{event}\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        tokio::time::timeout(DEADLINE, reader.read_line(&mut line)).await.unwrap().unwrap();
        let reply: HookReply = serde_json::from_str(&line).unwrap();
        reply.stdout.unwrap_or_default()
    }

    /// Sends the event of a hook that leaves before the answer.
    pub(crate) async fn hook_that_leaves(&self, client: &str, event: &Value) {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (reader, writer) = tokio::io::split(theirs);
        let serving = tokio::spawn(socket::serve(Arc::clone(&self.daemon.socket), reader, writer));
        let (reader, mut writer) = tokio::io::split(ours);
        let mut reader = BufReader::new(reader);
        let hello = Hello { role: Role::Hook, client: Some(client.to_owned()), ..self.hello() };
        writer.write_all(&line_of(&hello)).await.unwrap();
        assert!(matches!(answer(&mut reader).await, Answer::Welcome(_)));
        writer.write_all(format!("{event}\n").as_bytes()).await.unwrap();
        drop((reader, writer));
        tokio::time::timeout(DEADLINE, serving).await.expect("it ends").unwrap();
    }

    fn stream(&self) -> (BufReader<ReadHalf<DuplexStream>>, WriteHalf<DuplexStream>) {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (reader, writer) = tokio::io::split(theirs);
        tokio::spawn(socket::serve(Arc::clone(&self.daemon.socket), reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        (BufReader::new(reader), writer)
    }
}

/// A shim as the daemon sees it.
pub(crate) struct Shim {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    pub(crate) welcome: Welcome,
    pub(crate) hello: Hello,
    number: u64,
    unread: Vec<Value>,
}

impl Shim {
    /// Returns a shim after its hello. `stream` leads to the MCP service.
    pub(crate) fn over(stream: DuplexStream, hello: Hello, welcome: Welcome) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self::new(BufReader::new(reader), writer, hello, welcome)
    }

    fn new(
        reader: BufReader<ReadHalf<DuplexStream>>,
        writer: WriteHalf<DuplexStream>,
        hello: Hello,
        welcome: Welcome,
    ) -> Self {
        Self { reader, writer, welcome, hello, number: 0, unread: Vec::new() }
    }

    /// Reconnects this shim after its connection was lost. It continues its numbers.
    pub(crate) async fn reconnect(self, world: &World) -> Self {
        let token = self.welcome.resume.clone().expect("a shim's welcome has one");
        let resume = Some(Resume { token, revision: None });
        let hello = Hello { resume, ..self.hello.clone() };
        Self { number: self.number, ..world.connect(hello).await }
    }

    /// Performs the handshake of revisions before 2026-07-28 and returns its result.
    pub(crate) async fn initialize(&mut self, revision: &str) -> Value {
        self.initialize_as("test-agent", revision).await
    }

    /// Performs the handshake as a client of this name.
    pub(crate) async fn initialize_as(&mut self, client: &str, revision: &str) -> Value {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": { "name": client, "version": "1" },
        });
        let reply = self.request("initialize", params).await;
        self.notify("notifications/initialized").await;
        reply["result"].clone()
    }

    pub(crate) async fn notify(&mut self, method: &str) {
        self.number += 1;
        let message = json!({ "jsonrpc": "2.0", "method": method });
        self.send(self.number, &message.to_string()).await;
    }

    /// Sends a line as it is, under a number.
    pub(crate) async fn send(&mut self, number: u64, text: &str) {
        let line = format!("{number} 0 {text}\n");
        self.send_raw(line.as_bytes()).await;
    }

    pub(crate) async fn send_raw(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
    }

    /// Sends a request under the next number, which is also its id, and does not wait.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.number += 1;
        self.ask_as(self.number, method, params).await;
        self.number
    }

    /// Sends a request under the caller's number, as a shim does when it repeats one.
    pub(crate) async fn ask_as(&mut self, number: u64, method: &str, params: Value) {
        self.number = self.number.max(number);
        let message = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
        self.send(number, &message.to_string()).await;
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.reply(id).await
    }

    /// Returns the reply with this id. Keeps other replies for later calls.
    pub(crate) async fn reply(&mut self, id: u64) -> Value {
        if let Some(at) = self.unread.iter().position(|message| message["id"] == id) {
            return self.unread.remove(at);
        }
        loop {
            let message = self.receive().await.expect("the daemon hung up");
            if message["id"] == id {
                return message;
            }
            self.unread.push(message);
        }
    }

    /// Returns the next message of any kind; `None` if the daemon has closed.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(DEADLINE, self.reader.read_line(&mut line)).await;
        if read.expect("the daemon answers").unwrap() == 0 {
            return None;
        }
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Calls a tool and returns its text, with errors marked as such.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.ask_call(tool, arguments).await;
        self.said(id).await
    }

    /// Calls a tool and does not wait.
    pub(crate) async fn ask_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Returns the text of a call's reply, without the parts that differ between runs.
    pub(crate) async fn said(&mut self, id: u64) -> String {
        let reply = self.reply(id).await;
        let text = match (reply["result"]["content"][0]["text"].as_str(), reply.get("error")) {
            (Some(text), None) if reply["result"]["isError"] == true => format!("ERROR {text}"),
            (Some(text), None) => text.to_owned(),
            (None, Some(error)) => format!("FAULT {} {}", error["code"], error["message"]),
            _ => panic!("neither a result nor an error: {reply}"),
        };
        let project = self.hello.cwd.as_deref().expect("a test's shim is somewhere");
        let session = self.welcome.session.as_deref().expect("a shim's welcome has one");
        text.replace(&clock::now().date(), "DAY")
            .replace(project, "/demo")
            .replace(session, "SESSION")
    }
}

/// Returns the hello of a shim that runs in a directory, in this process.
pub(crate) fn hello_from(directory: &Path) -> Hello {
    let pid = std::process::id();
    Hello {
        pid_start: host::process_start(pid),
        boot: host::boot_id(),
        pidns: host::pid_namespace(),
        cwd: directory.to_str().map(str::to_owned),
        ..Hello::new(Role::Mcp, Uuid::new_v4(), pid)
    }
}

/// Returns a hello whose process is gone; another process has its pid.
pub(crate) fn dead(hello: Hello) -> Hello {
    Hello { pid_start: hello.pid_start.map(|start| start + 1), ..hello }
}

pub(crate) fn line_of(hello: &Hello) -> Vec<u8> {
    let mut line = serde_json::to_vec(hello).unwrap();
    line.push(b'\n');
    line
}

/// Waits until `look` returns a value. Fails at the deadline.
pub(crate) async fn poll<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let found = async {
        loop {
            match look() {
                Some(found) => return found,
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        }
    };
    tokio::time::timeout(DEADLINE, found).await.expect("it comes in time")
}

/// Waits like [`poll`] until an asynchronous `step` returns a value.
pub(crate) async fn poll_steps<T>(mut step: impl AsyncFnMut() -> Option<T>) -> T {
    let found = async {
        loop {
            match step().await {
                Some(found) => return found,
                None => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    tokio::time::timeout(DEADLINE, found).await.expect("it comes in time")
}

async fn answer(reader: &mut BufReader<ReadHalf<DuplexStream>>) -> Answer {
    let mut line = String::new();
    tokio::time::timeout(DEADLINE, reader.read_line(&mut line)).await.unwrap().unwrap();
    serde_json::from_str(&line).unwrap()
}

/// Returns the file of a memory that a team shares. Nothing answers at its database's address.
pub(crate) fn team_config() -> TeamConfig {
    TeamConfig {
        project: Uuid::from_u128(7),
        name: "api".to_owned(),
        member: None,
        renumbered: None,
        lost: BTreeMap::new(),
        url: "postgres://ada@127.0.0.1:1/anchord".to_owned(),
        secret: Secret::None,
    }
}

/// Returns the files beneath a directory that contain a value.
pub(crate) fn holding(directory: &Path, value: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(holding(&path, value));
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            if bytes.windows(value.len()).any(|part| part == value.as_bytes()) {
                found.push(path);
            }
        }
    }
    found
}

async fn start(scratch: &Path, stores: Factories, after_crash: bool, patience: Patience) -> Daemon {
    let dir = scratch.join("instance");
    let host = Host { boot: host::boot_id(), name: "test".to_owned() };
    // A process that another test is just starting still has our lock's descriptor until it runs
    // `exec`.
    let (named, places) = (InstanceDir::named(&dir), Places::beneath(&dir));
    let instance = Instance::acquire_within(&named, &places, &host, DEADLINE, || true).unwrap();
    let (registry, _, _) = RegistryStore::open(stores.registry).await.unwrap();
    let mut config = Config::load(scratch, None).unwrap();
    // A session whose process is gone has no grace, so that tests do not wait for it.
    config.sessions.grace = Duration::ZERO;
    let surroundings = Surroundings {
        home: Some(scratch.join("home")),
        tmp: None,
        ..Surroundings::here(Some(dir))
    };
    let projects = OpenProjects::new(stores.memories, Arc::new(TeamLinks::new(Uuid::nil())));
    let merge_calls = None;
    let parts = Parts {
        instance,
        config,
        surroundings,
        registry,
        projects,
        after_crash,
        merge_calls,
        outline_parser: Parser::in_process(),
        patience,
        joining: Joining::Done,
    };
    let daemon = Daemon::wire(parts);
    sessions::recover(&daemon.sessions);
    daemon
}
