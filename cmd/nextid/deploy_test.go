package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nextid/server"
	"nextid/server/standard"

	"github.com/goccy/go-yaml"
)

const deploy = "../../docs/deploy"

func readDeploy(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// kubernetesObject holds the fields that the tests need.
type kubernetesObject struct {
	Kind string            `yaml:"kind"`
	Data map[string]string `yaml:"data"`
	Spec struct {
		Template struct {
			Spec struct {
				TerminationGracePeriodSeconds int `yaml:"terminationGracePeriodSeconds"`
				Containers                    []struct {
					Args  []string                `yaml:"args"`
					Env   []struct{ Name string } `yaml:"env"`
					Ports []struct {
						Name          string `yaml:"name"`
						ContainerPort string `yaml:"containerPort"`
					} `yaml:"ports"`
					VolumeMounts []struct {
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				} `yaml:"containers"`
			} `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

// The settings in docs/deploy/ exist, and its ports and paths fit together.
func TestKubernetesFileFitsTheSettings(t *testing.T) {
	t.Parallel()
	objects := map[string]kubernetesObject{}
	for d := yaml.NewDecoder(strings.NewReader(readDeploy(t, "kubernetes.yaml"))); ; {
		var o kubernetesObject
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		objects[o.Kind] = o
	}
	config, err := server.NewBuild(standard.Options()...).LoadFile(writeFile(t, "nextid.yaml", objects["ConfigMap"].Data["nextid.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	pod := objects["Deployment"].Spec.Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	container := pod.Containers[0]
	for _, e := range container.Env {
		if e.Name != server.ConfigEnv && !slices.Contains(server.EnvNames(), e.Name) {
			t.Errorf("there is no variable %s", e.Name)
		}
	}
	addresses := map[string]string{"postgres": config.PG.String(), "mysql": config.MySQL.String(), "http": config.HTTP.String()}
	for _, p := range container.Ports {
		if want := "0.0.0.0:" + p.ContainerPort; addresses[p.Name] != want {
			t.Errorf("%s listens on %s, the container on %s", p.Name, addresses[p.Name], want)
		}
		delete(addresses, p.Name)
	}
	if len(addresses) > 0 {
		t.Errorf("the container lacks the ports of %v", addresses)
	}
	for _, file := range []string{config.Users, config.TLSCert, config.TLSKey} {
		mounted := false
		for _, m := range container.VolumeMounts {
			mounted = mounted || strings.HasPrefix(file, m.MountPath+"/")
		}
		if !mounted {
			t.Errorf("%s is in no volume", file)
		}
	}
	if grace := pod.TerminationGracePeriodSeconds; grace <= int(config.DrainTimeout.Seconds()) {
		t.Errorf("pods are killed after %d s, draining may take %v", grace, config.DrainTimeout)
	}
}

func TestServiceOfSystemd(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is missing: install systemd")
	}
	unit := strings.ReplaceAll(readDeploy(t, "nextid.service"), "/usr/local/bin/nextid", "/bin/true")
	// The best exposure is 0. What remains of its 10 is the network.
	out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=20",
		writeFile(t, "nextid.service", unit)).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = exec.CommandContext(t.Context(), analyze, "verify", writeFile(t, "nextid.service", unit)).CombinedOutput()
	if err != nil || strings.Contains(string(out), "/nextid.service:") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestKubernetesPortsAndLabels: names of ports and selectors of pods are those of
// the Deployment, and the image has a tag.
func TestKubernetesPortsAndLabels(t *testing.T) {
	t.Parallel()
	text := readDeploy(t, "kubernetes.yaml")
	kinds, named := map[string]bool{}, 0
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var o map[string]any
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		kind := o["kind"].(string)
		kinds[kind] = true
		var walk func(key string, v any)
		walk = func(key string, v any) {
			switch v := v.(type) {
			case map[string]any:
				for k, inner := range v {
					walk(k, inner)
				}
			case []any:
				for _, inner := range v {
					walk(key, inner)
				}
			case string:
				switch key {
				case "port", "targetPort":
					if named++; !slices.Contains([]string{"postgres", "mysql", "http"}, v) {
						t.Errorf("%s: no port is called %s", kind, v)
					}
				case "app":
					if v != "nextid" && v != "ids-db" {
						t.Errorf("%s selects %s", kind, v)
					}
				case "image":
					if name, tag, _ := strings.Cut(v, ":"); name != "nextid" || tag == "" {
						t.Errorf("image %s", v)
					}
				}
			}
		}
		walk("", o)
	}
	for _, kind := range []string{"ConfigMap", "Service", "PodDisruptionBudget", "Deployment", "NetworkPolicy", "PodMonitor"} {
		if !kinds[kind] {
			t.Errorf("there is no %s", kind)
		}
	}
	if named < 10 {
		t.Errorf("%d names of ports", named)
	}
}

// TestSBOM: the list of a package has every linked module.
func TestSBOM(t *testing.T) {
	t.Parallel()
	version, err := exec.CommandContext(t.Context(), "go", "version", "-m", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "../../.ci/sbom", "1.2.3", "abc", "amd64")
	cmd.Stdin = strings.NewReader(string(version))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var document struct {
		SPDXVersion string
		Packages    []struct {
			SPDXID, Name, VersionInfo string
			ExternalRefs              []struct{ ReferenceLocator string }
		}
		Relationships []struct{ SPDXElementID, RelatedSPDXElement string }
	}
	if err := json.Unmarshal(out, &document); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names := map[string]bool{}
	for _, p := range document.Packages {
		names[p.Name] = true
		if p.VersionInfo == "" || p.Name != "nextid" && (len(p.ExternalRefs) != 1 || !strings.HasSuffix(p.ExternalRefs[0].ReferenceLocator, "@"+p.VersionInfo)) {
			t.Errorf("%+v", p)
		}
	}
	for line := range strings.Lines(string(version)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "dep" && !names[words[1]] {
			t.Errorf("%s is not listed", words[1])
		}
	}
	if document.SPDXVersion != "SPDX-2.3" || len(names) < 20 || len(document.Relationships) != len(document.Packages) {
		t.Errorf("%s, %d packages, %d relationships", document.SPDXVersion, len(names), len(document.Relationships))
	}
}
