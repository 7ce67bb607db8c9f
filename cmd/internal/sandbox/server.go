package sandbox

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
)

// Options say what kind of server Start makes. The zero value is a server of
// the best local version that is fit for tests: quick rather than durable.
type Options struct {
	Install  Install           // binaries; the zero value: Find(Version)
	Version  string            // major version, "14" to "18", or ""
	Settings map[string]string // server settings, over the defaults
	Preload  []string          // shared_preload_libraries
	Durable  bool              // fsync on, as a server that matters has it
	TCP      bool              // listen on 127.0.0.1 too, for tools that need it
	Log      io.Writer         // gets a copy of the server's log; may be nil
}

// Server is a throw-away server.
type Server struct {
	Install
	SocketDir string // directory of the Unix socket
	Port      int    // of the socket's name and, with Options.TCP, on 127.0.0.1

	dir     string
	opts    Options
	account *syscall.Credential
	running *process // nil while the server is down
}

// defaults suit tests; Options override them.
var defaults = map[string]string{
	"shared_buffers":  "128MB",
	"max_connections": "100",
	"timezone":        "UTC",
	"log_timezone":    "UTC",
	"lc_messages":     "C",
	"log_line_prefix": "%m [%p] %q%u@%d ",
}

// quick are settings of servers that need not survive the end of the machine, and whose tables have few rows: compiling the plan of a large query takes
// longer than running it. frugal are those of servers whose files are in memory.
var (
	quick  = map[string]string{"fsync": "off", "full_page_writes": "off", "jit": "off"}
	frugal = map[string]string{"min_wal_size": "32MB", "max_wal_size": "128MB"}
)

// Start makes a data directory and starts a server in it; it returns when the
// server accepts connections. The context is for starting only.
func Start(ctx context.Context, opts Options) (*Server, error) {
	s, err := prepare(ctx, opts)
	if err != nil {
		return nil, err
	}
	register(s)
	if err := s.start(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func prepare(ctx context.Context, opts Options) (*Server, error) {
	if opts.Install.Bin == "" {
		in, err := Finder{}.Find(ctx, opts.Version)
		if err != nil {
			return nil, err
		}
		opts.Install = in
	}
	account, err := serverAccount()
	if err != nil {
		return nil, err
	}
	dir, err := newDir(account)
	if err != nil {
		return nil, err
	}
	s := &Server{Install: opts.Install, SocketDir: dir, dir: dir, opts: opts, account: account}
	if s.Port, err = freePort(); err != nil {
		return nil, err
	}
	return s, newCluster(ctx, s.Install, account, s.DataDir())
}

// DataDir is the server's data directory.
func (s *Server) DataDir() string { return filepath.Join(s.dir, "data") }

func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

// arguments are those of the postgres program, in a fixed order.
func (s *Server) arguments() []string {
	settings := maps.Clone(defaults)
	if !s.opts.Durable {
		maps.Copy(settings, quick)
	}
	if inMemory.Load() {
		maps.Copy(settings, frugal)
	}
	settings["shared_preload_libraries"] = strings.Join(s.opts.Preload, ",")
	settings["listen_addresses"] = ""
	if s.opts.TCP {
		settings["listen_addresses"] = "127.0.0.1"
	}
	maps.Copy(settings, s.opts.Settings)
	args := []string{"-D", s.DataDir(), "-k", s.SocketDir, "-p", itoa(s.Port)}
	for name, value := range settings {
		args = append(args, "--"+name+"="+value)
	}
	sort.Strings(args[6:])
	return args
}

// LogTail returns the last lines of the server's log.
func (s *Server) LogTail(lines int) string {
	text, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// Close stops the server and deletes everything of it.
func (s *Server) Close() error {
	err := s.Immediate()
	if err != nil {
		err = s.KillAll()
	}
	unregister(s)
	if rm := os.RemoveAll(s.dir); err == nil {
		err = rm
	}
	return err
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("no free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func itoa(n int) string { return strconv.Itoa(n) }
