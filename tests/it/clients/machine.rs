//! A developer's machine with real agents: a home, a project, anchord set up, and a scripted model.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anchord_tests::{PATIENCE, Project, Signal, binaries, poll, process, skip};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::model::Model;

/// A proxy where nobody listens, so that a client's requests outside of loopback fail at once.
const DEAD_PROXY: &str = "http://127.0.0.1:9";

/// The agents under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    ClaudeCode,
    Codex,
    OpenClaw,
    Copilot,
    Qwen,
    Gemini,
    Opencode,
    Kilo,
    Cline,
    Droid,
    Pi,
}

impl Client {
    /// Those that load memory by themselves, and whose hooks stop a tool.
    pub(super) const WITH_RULES: [Self; 10] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Copilot,
        Self::Qwen,
        Self::Gemini,
        Self::Opencode,
        Self::Kilo,
        Self::Cline,
        Self::Droid,
        Self::Pi,
    ];

    /// Returns its name for `anchord setup`.
    fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::OpenClaw => "openclaw",
            Self::Copilot => "copilot",
            Self::Qwen => "qwen",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Kilo => "kilo",
            Self::Cline => "cline",
            Self::Droid => "droid",
            Self::Pi => "pi",
        }
    }

    /// Returns the program that a variable names, else the one on the PATH. With `None`, the test
    /// is skipped and says so.
    pub(super) fn program(self) -> Option<PathBuf> {
        if std::env::var_os("ANCHORD_TEST_CLIENTS").is_none_or(|value| value != "1") {
            skip("set ANCHORD_TEST_CLIENTS=1 to drive the real clients");
            return None;
        }
        let (variable, name) = match self {
            Self::ClaudeCode => ("CLAUDE_BIN", "claude"),
            Self::Codex => ("CODEX_BIN", "codex"),
            Self::OpenClaw => ("OPENCLAW_BIN", "openclaw"),
            Self::Copilot => ("COPILOT_BIN", "copilot"),
            Self::Qwen => ("QWEN_BIN", "qwen"),
            Self::Gemini => ("GEMINI_BIN", "gemini"),
            Self::Opencode => ("OPENCODE_BIN", "opencode"),
            Self::Kilo => ("KILO_BIN", "kilo"),
            Self::Cline => ("CLINE_BIN", "cline"),
            Self::Droid => ("DROID_BIN", "droid"),
            Self::Pi => ("PI_BIN", "pi"),
        };
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&paths).map(|folder| folder.join(name));
        let found = std::env::var_os(variable).map(PathBuf::from).into_iter().chain(on_path);
        let found = found.into_iter().find(|path| path.is_file());
        if found.is_none() {
            skip(&format!("{name} is not installed; put it on the PATH or name it in {variable}"));
        }
        found
    }
}

/// A machine. Dropping it stops its daemon.
#[derive(Debug)]
pub(super) struct Machine {
    root: TempDir,
    client: Client,
    program: PathBuf,
    pub(super) project: Project,
    pub(super) model: Model,
}

impl Machine {
    /// Creates a fresh home and runs `anchord setup` for the client in it.
    pub(super) fn new(client: Client, program: PathBuf, model: Model) -> Self {
        let root = tempfile::Builder::new().prefix("machine-").tempdir().unwrap();
        let clients = [".claude", ".codex", ".openclaw", ".copilot", ".qwen", ".gemini"];
        let others = [".config/anchord", ".config/opencode", ".config/kilo", "../bin", "../tmp"];
        let more = [".cline/data/settings", ".factory", ".pi/agent"];
        for folder in clients.into_iter().chain(others).chain(more) {
            std::fs::create_dir_all(root.path().join("home").join(folder)).unwrap();
        }
        // Set-up refuses a program in a build's directory, since the next build replaces it.
        let installed = root.path().join("bin/anchord");
        std::fs::copy(&binaries().anchord, &installed).unwrap();
        let settings = "[http]\nenabled = false\n[sessions]\ngrace_seconds = 1\n";
        std::fs::write(root.path().join("home/.config/anchord/config.toml"), settings).unwrap();
        let machine = Self { root, client, program, project: Project::git(), model };
        match client {
            Client::ClaudeCode | Client::Copilot | Client::Qwen => {}
            Client::Codex => machine.configure_codex(),
            Client::Gemini => machine.configure_gemini(),
            Client::Opencode => machine.configure_opencode(".config/opencode/opencode.json"),
            Client::Kilo => machine.configure_opencode(".config/kilo/kilo.json"),
            Client::OpenClaw => machine.configure_openclaw(),
            Client::Cline => machine.configure_cline(),
            Client::Droid => machine.configure_droid(),
            Client::Pi => machine.configure_pi(),
        }
        let mut setup = machine.anchord();
        let output = setup.args(["setup", client.name(), "--yes"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        if client == Client::OpenClaw {
            machine.install_plugin();
        }
        machine
    }

    fn configure_codex(&self) {
        let config = format!(
            "model = \"script\"\nmodel_provider = \"script\"\ncheck_for_update_on_startup = false\n\
             model_auto_compact_token_limit = 100000\nmodel_context_window = 150000\n\
             [model_providers.script]\nname = \"script\"\nbase_url = \"http://127.0.0.1:{}/v1\"\nwire_api = \"responses\"\n\
             env_key = \"SCRIPT_KEY\"\n[analytics]\nenabled = false\n[projects.{}]\ntrust_level = \"trusted\"\n",
            self.model.port,
            Value::from(self.project.path().to_string_lossy()),
        );
        std::fs::write(self.home().join(".codex/config.toml"), config).unwrap();
    }

    fn configure_gemini(&self) {
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "privacy": { "usageStatisticsEnabled": false },
            "general": { "enableAutoUpdate": false, "disableAutoUpdate": true },
        });
        std::fs::write(self.home().join(".gemini/settings.json"), settings.to_string()).unwrap();
    }

    /// Configures opencode, or Kilo, which has the same settings in another file.
    fn configure_opencode(&self, file: &str) {
        let config = json!({
            "autoupdate": false,
            "share": "disabled",
            "model": "script/script",
            "small_model": "script/script",
            "permission": { "*": "allow" },
            "provider": { "script": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "script",
                "models": { "script": {
                    "name": "script",
                    "tool_call": true,
                    "limit": { "context": 200_000, "output": 8_000 },
                } },
                "options": {
                    "baseURL": format!("http://127.0.0.1:{}/v1", self.model.port),
                    "apiKey": "dummy",
                },
            } },
        });
        std::fs::write(self.home().join(file), config.to_string()).unwrap();
    }

    /// Configures the model, a gateway on loopback, and the project as the agent's workspace. Tools
    /// are offered by their names, which a script can call.
    fn configure_openclaw(&self) {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = json!({
            "models": { "providers": { "script": {
                "baseUrl": format!("http://127.0.0.1:{}/v1", self.model.port),
                "apiKey": "dummy",
                "api": "openai-completions",
                "models": [{ "id": "script", "name": "script", "contextWindow": 200_000, "maxTokens": 4_096 }],
            } } },
            "agents": { "defaults": {
                "model": { "primary": "script/script" },
                "workspace": self.project.path(),
                "skipBootstrap": true,
            } },
            "tools": { "toolSearch": false },
            "gateway": {
                "mode": "local",
                "port": port,
                "bind": "loopback",
                "auth": { "mode": "token", "token": "dummy" },
            },
        });
        std::fs::write(self.home().join(".openclaw/openclaw.json"), config.to_string()).unwrap();
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.model.port)
    }

    fn configure_cline(&self) {
        let provider = json!({
            "provider": "openai-compatible",
            "apiKey": "dummy",
            "model": "script",
            "baseUrl": self.address(),
        });
        let entry = json!({
            "settings": provider,
            "updatedAt": "2026-11-26T00:00:00.000Z",
            "tokenSource": "manual",
        });
        let settings = json!({
            "version": 1,
            "lastUsedProvider": "openai-compatible",
            "modes": {},
            "providers": { "openai-compatible": entry },
        });
        let path = self.home().join(".cline/data/settings/providers.json");
        std::fs::write(path, settings.to_string()).unwrap();
    }

    fn configure_droid(&self) {
        let settings = json!({ "customModels": [{
            "id": "custom:script",
            "model": "script",
            "displayName": "script",
            "baseUrl": self.address(),
            "apiKey": "dummy",
            "provider": "generic-chat-completion-api",
            "maxOutputTokens": 4_096,
        }] });
        std::fs::write(self.home().join(".factory/settings.json"), settings.to_string()).unwrap();
    }

    fn configure_pi(&self) {
        let models = json!({ "providers": { "script": {
            "baseUrl": self.address(),
            "api": "openai-completions",
            "apiKey": "dummy",
            "models": [{ "id": "script", "contextWindow": 200_000, "maxTokens": 4_096 }],
        } } });
        std::fs::write(self.home().join(".pi/agent/models.json"), models.to_string()).unwrap();
    }

    /// Accepts the plugin that set-up put in place, as a person does.
    fn install_plugin(&self) {
        let plugin = self.home().join(".openclaw/anchord-plugin");
        let plugin = plugin.to_str().unwrap();
        let access = "plugins.entries.anchord.hooks.allowConversationAccess";
        for arguments in [
            &["plugins", "install", "--link", plugin, "--force", "--accept-capabilities"][..],
            &["config", "set", access, "true"],
        ] {
            let output = self.command(&self.program).args(arguments).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        }
    }

    /// Starts the gateway, which serves several conversations at once.
    pub(super) fn gateway(&self) -> Gateway {
        let config = std::fs::read(self.home().join(".openclaw/openclaw.json")).unwrap();
        let config: Value = serde_json::from_slice(&config).unwrap();
        let port = config.pointer("/gateway/port").and_then(Value::as_u64).unwrap();
        let mut command = self.command(&self.program);
        command.args(["gateway", "run"]).process_group(0);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let gateway = Gateway(command.spawn().unwrap());
        // Its log says that parts are ready before it listens.
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, u16::try_from(port).unwrap()));
        poll(2 * PATIENCE, "the gateway listens", || TcpStream::connect(address).ok());
        gateway
    }

    /// Adds settings to the instance's, and stops the daemon so that the next one reads them. Call
    /// this before anything is stored.
    pub(super) fn configure(&self, settings: &str) {
        let path = self.home().join(".config/anchord/config.toml");
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, before + settings).unwrap();
        let output = self.anchord().arg("stop").output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Prepares the command line, as the person at this machine runs it in the project.
    pub(super) fn anchord(&self) -> Command {
        self.command(&self.root.path().join("bin/anchord"))
    }

    fn command(&self, program: &Path) -> Command {
        let own = [self.root.path().join("bin"), self.program.parent().unwrap().to_owned()];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path: OsString =
            std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path))).unwrap();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", path)
            .env("TMPDIR", self.root.path().join("tmp"))
            .envs([("LANG", "C.UTF-8"), ("TERM", "xterm"), ("USER", "dev"), ("SHELL", "/bin/sh")])
            .envs([("HTTPS_PROXY", DEAD_PROXY), ("HTTP_PROXY", DEAD_PROXY)])
            .env("NO_PROXY", "127.0.0.1,localhost")
            .current_dir(self.project.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the agent headless to its end, in a new session or in one that is resumed.
    pub(super) fn run(&self, prompt: &str, session: &Session) -> Output {
        let output = self.agent(prompt, session).output().unwrap();
        assert!(output.status.success(), "{prompt}: {}", said(&output));
        output
    }

    /// Starts a headless run of the agent in the background.
    pub(super) fn start(&self, prompt: &str, session: &Session) -> Running {
        let mut command = self.agent(prompt, session);
        // In a process group of its own, since one client is a script around the real program.
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        Running(command.spawn().unwrap())
    }

    fn agent(&self, prompt: &str, session: &Session) -> Command {
        let mut command = self.command(&self.program);
        match self.client {
            Client::ClaudeCode => {
                command
                    .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", self.model.port))
                    .envs([("ANTHROPIC_API_KEY", "sk-ant-dummy"), ("IS_SANDBOX", "1")])
                    .envs([("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")])
                    .envs([("DISABLE_TELEMETRY", "1"), ("DISABLE_AUTOUPDATER", "1")])
                    .args(["-p", prompt, "--allowedTools", "mcp__anchord,Bash,Edit,Write"])
                    .args(["--output-format", "stream-json", "--verbose"]);
                match session {
                    Session::New(id) => command.args(["--session-id", id]),
                    Session::Again(id) => command.args(["--resume", id]),
                };
            }
            Client::Codex => {
                command.env("SCRIPT_KEY", "dummy").arg("exec");
                if let Session::Again(id) = session {
                    command.args(["resume", id]);
                }
                // A person would trust the hooks in the terminal, but nobody is there.
                command.args(["--json", "--skip-git-repo-check"]);
                command.args(["--dangerously-bypass-hook-trust", prompt]);
            }
            Client::OpenClaw => {
                let (Session::New(id) | Session::Again(id)) = session;
                command.args(["agent", "--session-key", &format!("agent:main:{id}")]);
                command.args(["--message", prompt, "--json"]);
            }
            Client::Copilot => {
                let address = format!("http://127.0.0.1:{}/v1", self.model.port);
                command
                    .env("COPILOT_PROVIDER_BASE_URL", address)
                    .envs([("COPILOT_OFFLINE", "true"), ("COPILOT_PROVIDER_TYPE", "openai")])
                    .envs([("COPILOT_PROVIDER_API_KEY", "dummy"), ("COPILOT_MODEL", "script")])
                    .args(["-p", prompt, "--allow-all-tools", "--no-color"]);
            }
            Client::Gemini => {
                command
                    .env("GOOGLE_GEMINI_BASE_URL", format!("http://127.0.0.1:{}", self.model.port))
                    .envs([("GEMINI_API_KEY", "dummy"), ("GEMINI_CLI_TRUST_WORKSPACE", "true")])
                    .env("GEMINI_CLI_NO_RELAUNCH", "true")
                    .args(["-p", prompt, "-m", "gemini-2.5-flash", "-o", "stream-json"])
                    .args(["--skip-trust", "--approval-mode", "yolo"]);
            }
            Client::Opencode => {
                command
                    .envs([("OPENCODE_DISABLE_AUTOUPDATE", "1")])
                    .envs([("OPENCODE_DISABLE_MODELS_FETCH", "1")])
                    .envs([("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")])
                    .args(["run", "--format", "json", "--title", "script", prompt]);
            }
            Client::Kilo => {
                command
                    .envs([("KILO_DISABLE_AUTOUPDATE", "1"), ("KILO_DISABLE_MODELS_FETCH", "1")])
                    .envs([("KILO_DISABLE_LSP_DOWNLOAD", "1")])
                    .args(["run", "--format", "json", "--title", "script", prompt]);
            }
            Client::Cline => {
                command.env("CLINE_TELEMETRY_DISABLED", "1").args(["--json", prompt]);
            }
            Client::Droid => {
                command.env("FACTORY_API_KEY", "dummy");
                command.args(["exec", "--auto", "high", "-m", "custom:script", prompt]);
            }
            Client::Pi => {
                command.envs([("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")]);
                command.args(["-p", "--model", "script/script", prompt]);
            }
            Client::Qwen => {
                let address = format!("http://127.0.0.1:{}/v1", self.model.port);
                command
                    .envs([("OPENAI_API_KEY", "dummy"), ("OPENAI_MODEL", "script")])
                    .env("OPENAI_BASE_URL", &address)
                    .args([prompt, "--openai-base-url", &address, "--auth-type", "openai"])
                    .args(["-m", "script", "--approval-mode", "yolo"]);
            }
        }
        command
    }

    /// Returns the id of the session that a run began.
    pub(super) fn session_of(output: &Output) -> String {
        let lines = String::from_utf8_lossy(&output.stdout);
        let values = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let ids = values.filter_map(|value| {
            let id = value.get("session_id").or_else(|| value.get("thread_id"))?;
            id.as_str().map(str::to_owned)
        });
        let mut ids = ids.into_iter();
        ids.next().expect("the client names its session")
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // If a daemon does not stop, nothing more can be done. Its home is removed.
        if self.client == Client::Cline {
            let _ = self.command(&self.program).args(["hub", "stop"]).output();
        }
        let _ = self.anchord().arg("stop").output();
    }
}

/// A running gateway. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Gateway(Child);

impl Drop for Gateway {
    fn drop(&mut self) {
        process::signal_group(self.0.id(), Signal::TERM);
        // If it has ended already, nothing more is to be done.
        let _ = self.0.wait();
    }
}

/// An agent in the background.
#[derive(Debug)]
pub(super) struct Running(Child);

impl Running {
    /// Waits for its end, which must be a success.
    pub(super) fn wait(mut self) {
        assert!(self.0.wait().unwrap().success());
    }

    /// Sends SIGKILL to its process group.
    pub(super) fn kill(mut self) {
        process::signal_group(self.0.id(), Signal::KILL);
        self.0.wait().unwrap();
    }
}

/// The conversation that a run belongs to.
#[derive(Clone, Debug)]
pub(super) enum Session {
    /// A new conversation. Claude Code is given its id.
    New(String),
    /// A conversation that the run resumes.
    Again(String),
}

/// Returns a program's status and all of its output.
pub(super) fn said(output: &Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{}\n{out}\n{err}", output.status)
}
