//! A web server of a stranger's.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// The answers that the server has for each text.
const ANSWERS: usize = 3;

/// A server that answers by number, as long as the process lives.
pub(super) struct Site {
    address: SocketAddr,
}

impl Site {
    /// Starts it.
    pub(super) fn start(answers: Vec<[String; ANSWERS]>) -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Whoever asked and went away misses nothing.
                let _ = answer(&stream, &answers);
            }
        });
        Ok(Self { address })
    }

    /// The addresses of the answers of one text.
    pub(super) fn places(&self, number: usize) -> [String; ANSWERS] {
        std::array::from_fn(|at| format!("http://{}/{number}/{at}", self.address))
    }
}

fn answer(mut stream: &TcpStream, answers: &[[String; ANSWERS]]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let mut numbers = first.split([' ', '/']).filter_map(|part| part.parse::<usize>().ok());
    let answer = numbers.next().zip(numbers.next()).and_then(|(number, at)| answers.get(number)?.get(at));
    stream.write_all(answer.map_or("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", String::as_str).as_bytes())
}
