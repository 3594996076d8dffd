package cmd

import (
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nextid/server"
	"nextid/server/standard"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v2"
)

// TestDefaultsOfTheContract pins the flags that scripts rely on.
func TestDefaultsOfTheContract(t *testing.T) {
	t.Parallel()
	serve, _, err := (&program{build: server.NewBuild(standard.Options()...)}).rootCommand().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"config": "", "data": "./nextid-data", "pg": "127.0.0.1:5433", "mysql": "127.0.0.1:3307", "http": "127.0.0.1:8433",
		"store": "sqlite in the data directory", "auto-create": "snowflake", "worker-slice": "0s", "worker-borrow": "false", "worker-id": "auto",
		"store-failover": "auto", "clock-limit": "5s", "clock-jump": "720h", "accept-clock": "false", "store-unsafe": "", "adopt": "false", "allow-plaintext": "false", "log-level": "info", "log-format": "text", "drain-delay": "0s",
		"users": "auto", "host-rules": "", "tls-cert": "", "tls-key": "", "tls-client-ca": "", "require-tls": "false", "mysql-native-password": "false",
	}
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		if text, ok := want[f.Name]; !ok || text != f.DefValue {
			t.Errorf("--%s: default %q, want %q (known: %v)", f.Name, f.DefValue, text, ok)
		}
		delete(want, f.Name)
	})
	for name := range want {
		t.Errorf("serve has no flag --%s", name)
	}
}

// TestComposeFileFitsTheSettings: the servers' commands and variables exist,
// and published ports are those that are listened on.
func TestComposeFileFitsTheSettings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Command     []string
			Environment map[string]string
			Ports       []string
		}
	}
	if err := yaml.Unmarshal([]byte(string(text)), &file); err != nil {
		t.Fatal(err)
	}
	build := server.NewBuild(standard.Options()...)
	servers := 0
	for name, service := range file.Services {
		if len(service.Command) == 0 || service.Command[0] != "serve" {
			continue
		}
		servers++
		var environ []string
		for k, v := range service.Environment {
			environ = append(environ, k+"="+v)
		}
		var config server.Config
		command := (&program{build: build, stderr: io.Discard}).rootCommand()
		serve, rest, err := command.Find(service.Command)
		if err != nil {
			t.Fatal(err)
		}
		flags := build.Flags()
		serve.ResetFlags()
		flags.Register(serve.Flags())
		if err := serve.ParseFlags(rest); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if config, err = flags.Load(environ); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range service.Ports {
			port := p[strings.LastIndexByte(p, ':')+1:]
			listens := slices.ContainsFunc([]server.Address{config.PG, config.MySQL, config.HTTP}, func(a server.Address) bool { return string(a) == "0.0.0.0:"+port })
			if !listens || !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s publishes %s", name, p)
			}
		}
	}
	if servers != 2 {
		t.Errorf("%d servers", servers)
	}
}

// fullDisk is a standard output that cannot be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestOutputThatCannotBeWritten: a command whose output is lost fails.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--version"},
		{"version"},
		{"help"},
		{"parse", "1"},
		{"parse", "--json", "1"},
		{"migrate", "store", "print", "--dsn", "postgres://db/nextid"},
		{"migrate", "foreign", "print", "--dsn", "postgres://db/shop"},
	} {
		var errors strings.Builder
		p := &program{build: server.NewBuild(standard.Options()...), args: args, stdout: fullDisk{}, stderr: &errors}
		if code := p.run(t.Context()); code != exitFailed || errors.String() != "nextid: no space left on device\n" {
			t.Errorf("%v: exit code %d, %q", args, code, errors.String())
		}
	}
}
