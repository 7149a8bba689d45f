//! `mcp`.

use std::net::SocketAddr;

use clap::{Args, Subcommand};

/// What to do with servers of the Model Context Protocol.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// List the servers of limpid.toml; with a name, the tools of one
    List {
        /// Its name
        server: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Connect to a server, show its tools, and write it into limpid.toml
    ///
    /// A program is started without a shell: `limpid mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes`.
    /// One that is elsewhere is spoken to over HTTP: `limpid mcp add desk --url https://desk.example/mcp --token-env DESK_TOKEN`.
    Add(Box<McpAddArgs>),
    /// Connect to a server now, and count what it offers
    Test {
        /// Its name
        server: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a server says of its tools, and allow them to be used; switch on what was switched off
    ///
    /// A tool that says something else than before is not used until you have looked at the difference here.
    Enable {
        /// The name of the server
        server: String,
        /// One tool, by the server's own name for it [default: all that wait]
        tool: Option<String>,
        /// The hash of what was shown, or its first 32 digits or more: say yes to that, without being asked
        #[arg(long, value_name = "HASH")]
        hash: Option<String>,
    },
    /// Switch a server off, or one of its tools
    Disable {
        /// The name of the server
        server: String,
        /// One tool, by the server's own name for it
        tool: Option<String>,
    },
    /// Lend the agent's tools, prompts and texts to another program
    ///
    /// The program starts this and speaks to it over standard input and output; with --http it is spoken to over HTTP, with a
    /// token. What would change something of yours is kept as a draft, which you approve or refuse: `limpid draft list`.
    Serve(McpServeArgs),
    /// Log in at a server over HTTP that asks who is there (OAuth)
    ///
    /// Prints an address for your browser and waits until it comes back. The tokens are kept in a file of the home that only you
    /// may read, and renewed with it. `limpid mcp add NAME --url URL --login` does the same for a new server.
    Login {
        /// The name of the server
        server: String,
        /// A right to ask for, besides those of the login before [default: what the server says]
        #[arg(long, value_name = "SCOPE")]
        scope: Vec<String>,
        /// The client id that the server's operator gave you, or the address of a client metadata document of yours
        #[arg(long, value_name = "ID")]
        client_id: Option<String>,
        /// The variable that holds the secret of that client id
        #[arg(long, value_name = "VARIABLE", requires = "client_id")]
        client_secret_env: Option<String>,
    },
    /// Forget what a login at a server gave
    Logout {
        /// The name of the server
        server: String,
    },
    /// Take a server out of limpid.toml
    Remove {
        /// Its name
        server: String,
    },
}

/// Options of `mcp serve`.
#[derive(Debug, Args)]
pub struct McpServeArgs {
    /// Listen on an address instead [default: 127.0.0.1:7718]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7718")]
    pub http: Option<SocketAddr>,

    /// A name under which other machines reach it, such as that of a server with TLS before it
    #[arg(long, value_name = "NAME", requires = "http")]
    pub host: Vec<String>,

    /// Listen also where other machines reach it unencrypted
    #[arg(long, requires = "http")]
    pub public: bool,
}

/// Options of `mcp add`.
#[derive(Debug, Args)]
pub struct McpAddArgs {
    /// A name for it: letters, digits, `-` and `_`
    pub server: String,

    /// Where it is, when it is not a program of this machine
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub url: Option<String>,

    /// A header of every request
    #[arg(long, value_name = "NAME=VALUE", requires = "url")]
    pub header: Vec<String>,

    /// The environment variable that holds its bearer token
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    pub token_env: Option<String>,

    /// Log in there first, in your browser
    #[arg(long, requires = "url", conflicts_with = "token_env")]
    pub login: bool,

    /// A variable that the program gets
    #[arg(long, value_name = "NAME=VALUE", requires = "command")]
    pub env: Vec<String>,

    /// The name of a variable that is handed on to the program, such as a key
    #[arg(long, value_name = "VARIABLE", requires = "command")]
    pub env_from: Vec<String>,

    /// Seconds that an answer may take [default: 60]
    #[arg(long)]
    pub seconds: Option<u32>,

    /// Allow every tool that it has now, without asking
    #[arg(long)]
    pub yes: bool,

    /// The program and its arguments
    #[arg(last = true, required_unless_present = "url")]
    pub command: Vec<String>,
}
