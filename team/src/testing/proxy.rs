//! A proxy that stops and cuts connections to a server.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::url;
use parking_lot::{Condvar, Mutex, MutexGuard};

/// A proxy on a loopback port in front of a server. It forwards bytes and can stop or cut them. It
/// never changes or repeats any.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

/// The moment of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The bytes with the pattern do not reach the server.
    Before,
    /// The bytes reach the server, and no answer comes back.
    After,
    /// The bytes reach the server, and answers stay on the way until [`Proxy::resume`].
    Stall,
    /// The bytes stay on the way until [`Proxy::resume`], also if the client goes away meanwhile.
    Hold,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    flow: Flow,
    door: Door,
    trap: Option<(Vec<u8>, Cut)>,
    caught: u32,
    connections: Vec<TcpStream>,
    /// The count of connections so far.
    count: u32,
    /// The connections before this one are stranded.
    stranded: u32,
}

/// The bytes that pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flow {
    #[default]
    All,
    /// Those to the server.
    Requests,
    Nothing,
}

/// The treatment of new connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Door {
    #[default]
    Open,
    Refusing,
    /// The proxy ends.
    Gone,
}

impl Proxy {
    /// Starts a proxy to a loopback port.
    pub fn start(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let own = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, port, &accepting));
        Self { port: own, shared }
    }

    /// Returns the URL of the database `postgres` for a role, through this proxy.
    pub fn url(&self, user: &str) -> String {
        url(user, self.port)
    }

    /// Returns the proxy's port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Holds all bytes back, in both directions.
    pub fn stall(&self) {
        self.change(|state| state.flow = Flow::Nothing);
    }

    /// Forwards again what was held back.
    pub fn resume(&self) {
        self.change(|state| {
            state.flow = Flow::All;
            state.door = Door::Open;
        });
    }

    /// Holds the bytes of today's connections back for good, without an end. New ones work.
    pub fn strand(&self) {
        self.change(|state| state.stranded = state.count);
    }

    /// Cuts all connections. New ones are accepted.
    pub fn cut(&self) {
        self.change(State::cut);
    }

    /// Cuts all connections, and new ones at once, until [`resume`](Self::resume).
    pub fn refuse(&self) {
        self.change(|state| {
            state.door = Door::Refusing;
            state.cut();
        });
    }

    /// Does this once when a client sends these bytes in one message.
    pub fn on(&self, pattern: &str, cut: Cut) {
        self.change(|state| state.trap = Some((pattern.as_bytes().to_vec(), cut)));
    }

    /// Waits until a pattern has passed this many times since the start. Panics after 30 s.
    pub fn wait_caught(&self, count: u32) {
        let mut state = self.shared.lock();
        let limit = Duration::from_secs(30);
        let waited =
            self.shared.changed.wait_while_for(&mut state, |state| state.caught < count, limit);
        drop(state);
        assert!(!waited.timed_out(), "the pattern has not passed");
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.shared.lock());
        self.shared.changed.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.change(|state| {
            state.door = Door::Gone;
            state.cut();
        });
        // Wakes the thread that accepts.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl State {
    fn cut(&mut self) {
        for connection in self.connections.drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        self.flow = Flow::All;
        self.stranded = 0;
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Waits while bytes of this direction are held back.
    fn wait_flowing(&self, number: u32, is_answer: bool) {
        let mut state = self.lock();
        let held = |state: &mut State| {
            number < state.stranded
                || state.flow == Flow::Nothing
                || (is_answer && state.flow == Flow::Requests)
        };
        self.changed.wait_while(&mut state, held);
    }
}

fn accept(listener: &TcpListener, port: u16, shared: &Arc<Shared>) {
    for client in listener.incoming().flatten() {
        match shared.lock().door {
            Door::Open => {}
            Door::Refusing => continue,
            Door::Gone => return,
        }
        let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { continue };
        let both = [client.try_clone(), server.try_clone(), client.try_clone(), server.try_clone()];
        let [Ok(from), Ok(to), Ok(kept_client), Ok(kept_server)] = both else { continue };
        let mut state = shared.lock();
        state.connections.extend([kept_client, kept_server]);
        let number = state.count;
        state.count += 1;
        drop(state);
        let requests = Arc::clone(shared);
        thread::spawn(move || forward_requests(from, to, number, &requests));
        let answers = Arc::clone(shared);
        thread::spawn(move || forward_answers(server, client, number, &answers));
    }
}

fn forward_requests(mut from: TcpStream, mut to: TcpStream, number: u32, shared: &Shared) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let bytes = buffer.get(..length).unwrap_or_default();
        shared.wait_flowing(number, false);
        let mut state = shared.lock();
        let trap = state.trap.take_if(|(pattern, _)| {
            bytes.windows(pattern.len()).any(|window| window == pattern.as_slice())
        });
        let cut = trap.map(|(_, cut)| cut);
        match cut {
            Some(Cut::Stall) => state.flow = Flow::Requests,
            Some(Cut::Hold) => state.flow = Flow::Nothing,
            _ => {}
        }
        if cut.is_some() {
            state.caught += 1;
            shared.changed.notify_all();
        }
        drop(state);
        if cut == Some(Cut::Hold) {
            shared.wait_flowing(number, false);
        }
        if cut == Some(Cut::After) {
            // Before the bytes are sent, or the answer could be faster than the end.
            let _ = from.shutdown(Shutdown::Both);
        }
        let is_sent = cut != Some(Cut::Before) && to.write_all(bytes).is_ok();
        if cut == Some(Cut::After) {
            // The server reads what is on the way before it sees the end.
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
        if !is_sent {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

fn forward_answers(mut from: TcpStream, mut to: TcpStream, number: u32, shared: &Shared) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        shared.wait_flowing(number, true);
        if to.write_all(buffer.get(..length).unwrap_or_default()).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
