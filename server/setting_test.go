package server

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// sampleTexts has a valid text for every setting that differs from its
// default, by key.
var sampleTexts = map[string]string{
	"data":                               "/var/lib/nextid",
	"pg":                                 "[::1]:6000",
	"mysql":                              "off",
	"http":                               "off",
	"store":                              "sqlite:ids.db",
	"store_failover":                     "skip",
	"store_skip":                         "1000",
	"store_unsafe":                       "fsync,synchronous_commit",
	"store_password":                     "open sesame",
	"auto_create":                        "segment",
	"auto_create_sequence":               "segment",
	"auto_create_tables":                 "false",
	"worker_id":                          "7",
	"worker_borrow":                      "true",
	"worker_slice":                       "2m",
	"clock_jump":                         "5m",
	"allow_plaintext":                    "true",
	"users":                              "/etc/nextid/users",
	"host_rules":                         "rules.conf",
	"database_passwords":                 "passwords.txt",
	"tls_cert":                           "server.crt",
	"tls_key":                            "server.key",
	"tls_client_ca":                      "ca.crt",
	"require_tls":                        "true",
	"mysql_native_password":              "true",
	"log_level":                          "debug",
	"log_format":                         "json",
	"drain_delay":                        "9s",
	"drain_timeout":                      "1m30s",
	"limits.statement_time":              "40s",
	"layout":                             "baidu",
	"epoch":                              "2024-01-01",
	"audit.file":                         "/var/log/nextid/audit.jsonl",
	"audit.names":                        "orders,invoice_*",
	"audit.sample":                       "100",
	"audit.max_size":                     "10MiB",
	"audit.keep":                         "9",
	"audit.queue":                        "5000",
	"limits.max_names":                   "10",
	"limits.ids_per_call":                "11",
	"limits.statements":                  "12",
	"limits.portals":                     "13",
	"limits.prepared_bytes":              "14KiB",
	"limits.statements_per_query":        "15",
	"limits.memory":                      "16MiB",
	"limits.memory_per_user":             "16KiB",
	"limits.memory_per_session":          "16",
	"limits.plan_cache":                  "17",
	"limits.connections":                 "18",
	"limits.connections_before_login":    "19",
	"limits.connections_per_ip":          "20",
	"limits.connections_for_socket":      "21",
	"limits.first_byte_timeout":          "22s",
	"limits.login_timeout":               "23s",
	"limits.message_timeout":             "24s",
	"limits.write_timeout":               "25s",
	"limits.idle_timeout":                "26s",
	"limits.startup_bytes":               "2700",
	"limits.startup_parameters":          "28",
	"limits.statement_bytes":             "29KiB",
	"limits.message_bytes":               "3000",
	"limits.parameters":                  "31",
	"limits.idle_in_transaction_timeout": "33s",
	"limits.login_bytes":                 "3400",
	"limits.result_formats":              "35",
	"limits.log_statement_bytes":         "36",
	"limits.log_name_bytes":              "37",
	"limits.flush_bytes":                 "32KiB",
	"clock_limit":                        "38s",
}

// fileText is a configuration file that gives one setting.
func fileText(key, text string) string {
	if strings.HasPrefix(text, "[") {
		text = strconv.Quote(text)
	}
	if section, name, ok := strings.Cut(key, "."); ok {
		return fmt.Sprintf("%s:\n  %s: %s\n", section, name, text)
	}
	return fmt.Sprintf("%s: %s\n", key, text)
}

func TestEverySettingMeansTheSameInAllSources(t *testing.T) {
	t.Parallel()
	for _, s := range new(Config).settings() {
		t.Run(s.key, func(t *testing.T) {
			t.Parallel()
			text, ok := sampleTexts[s.key]
			if !ok {
				t.Fatal("sampleTexts has no text for this setting")
			}
			file, env, flags := newLoader(testBuild), newLoader(testBuild), newLoader(testBuild)
			file.document("f.yaml", []byte(fileText(s.key, text)))
			env.environment([]string{s.envName() + "=" + text})
			flags.set(s.key, text, place{source: "--" + s.flagName()})
			for source, l := range map[string]*loader{"file": file, "environment": env, "flag": flags} {
				if len(l.mistakes) > 0 {
					t.Errorf("%s: %v", source, l.mistakes)
				}
				if !reflect.DeepEqual(l.config, file.config) {
					t.Errorf("%s gives %+v, the file gives %+v", source, l.config, file.config)
				}
			}
			if same := reflect.DeepEqual(file.config, testBuild.Config()); same {
				t.Errorf("%s: %s leaves the defaults as they are", s.key, text)
			}
		})
	}
}

func TestEveryConfigFieldHasASetting(t *testing.T) {
	t.Parallel()
	changed, defaults := testBuild.Config(), testBuild.Config()
	for _, s := range changed.settings() {
		if err := s.Set(sampleTexts[s.key]); err != nil {
			t.Fatal(err)
		}
	}
	var walk func(path string, a, b reflect.Value)
	walk = func(path string, a, b reflect.Value) {
		for i := range a.NumField() {
			name := path + a.Type().Field(i).Name
			switch {
			case name == "build", name == "reread", name == "Once", name == "Generators", name == "OpenAtStart", name == "Quotas", name == "Origin": // the file's list
			case name == "SQL", name == "Wire", name == "SharedStore", name == "Audit":
				walk(name+".", a.Field(i), b.Field(i))
			case reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()):
				t.Errorf("no setting changes Config.%s", name)
			}
		}
	}
	walk("", reflect.ValueOf(changed), reflect.ValueOf(defaults))
}

func TestSettingsHaveDistinctNames(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, s := range new(Config).settings() {
		for _, name := range []string{s.key, s.envName(), "--" + s.flagName()} {
			if other, ok := seen[name]; ok {
				t.Errorf("%s stands for %s and for %s", name, other, s.key)
			}
			seen[name] = s.key
		}
		if serviceLink.MatchString(s.envName()) {
			t.Errorf("%s would be taken for a variable of Kubernetes", s.envName())
		}
		if s.is&flagged != 0 && strings.Contains(s.key, ".") {
			t.Errorf("%s: a flag cannot be in a section", s.key)
		}
		if s.help == "" || strings.HasSuffix(s.help, ".") {
			t.Errorf("%s: help text %q", s.key, s.help)
		}
	}
}

var updatePages = flag.Bool("update", false, "write the generated pages under docs/ again")

func TestConfigPageIsUpToDate(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- The settings of a server: \"make docs\" writes this table again. -->\n", "<!-- end of the settings -->"
	path := filepath.Join("..", "docs", "config.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(page), begin)
	table, tail, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("docs/config.md lacks %q and %q", begin, end)
	}
	switch want := configTable(); {
	case table == want:
	case !*updatePages:
		t.Error("docs/config.md does not match the settings: run make docs")
	default:
		if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
