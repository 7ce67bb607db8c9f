package ops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestKubernetes reads the manifests by the types of Kubernetes, which refuse unknown fields.
func TestKubernetes(t *testing.T) {
	eachSpec(t, func(t *testing.T, files map[string]string) {
		kinds := map[string]bool{}
		for _, document := range strings.Split(files["kubernetes.yaml"], "\n---\n") {
			document += "\n"
			var of struct{ Kind string }
			if err := yaml.Unmarshal([]byte(document), &of); err != nil {
				t.Fatal(err)
			}
			kinds[of.Kind] = true
			into := map[string]any{"Secret": &core.Secret{}, "ConfigMap": &core.ConfigMap{}, "Service": &core.Service{}, "Deployment": &apps.Deployment{}, "StatefulSet": &apps.StatefulSet{}}[of.Kind]
			if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
				t.Errorf("%s: %v\n%s", of.Kind, err, document)
			}
			if c, ok := into.(*core.ConfigMap); ok && c.Data["relay.yaml"] != files["relay.yaml"] {
				t.Errorf("the ConfigMap has another relay.yaml:\n%s", c.Data["relay.yaml"])
			}
		}
		if kinds["StatefulSet"] != (files["relay.yaml"] != "") || !kinds["Deployment"] {
			t.Errorf("there are %v", kinds)
		}
	})
}

// TestCompose has Compose's own loader read and check the file.
func TestCompose(t *testing.T) {
	eachSpec(t, func(t *testing.T, files map[string]string) {
		project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
			WorkingDir:  t.TempDir(),
			ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: []byte(files["compose.yaml"])}},
			Environment: types.Mapping{"POSTGRES_PASSWORD": "p", "SPEC": "/spec"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, relay := project.Services["relay"]; relay != (files["relay.yaml"] != "") {
			t.Errorf("there are %v", project.ServiceNames())
		}
	})
}

// TestUnits has systemd check the units, with another program in the place of sluice and sluice-relay.
func TestUnits(t *testing.T) {
	systemd, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatalf("%v: install systemd, which checks units", err)
	}
	eachSpec(t, func(t *testing.T, files map[string]string) {
		dir := t.TempDir()
		for path, text := range files {
			if !strings.HasPrefix(path, "systemd/") {
				continue
			}
			unit := filepath.Join(dir, filepath.Base(path))
			if err := os.WriteFile(unit, []byte(strings.NewReplacer("/usr/bin/sluice-relay", "/bin/true", "/usr/bin/sluice", "/bin/true").Replace(text)), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(systemd, "verify", "--man=no", unit).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v\n%s", path, err, out)
			}
		}
	})
}
