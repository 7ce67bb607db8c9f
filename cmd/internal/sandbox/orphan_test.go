package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// childMain is the process that TestServerDiesWithItsParent kills.
func childMain() {
	s, err := Start(context.Background(), Options{})
	if err != nil {
		fmt.Println(0, err)
		os.Exit(1)
	}
	fmt.Println(s.PID())
	time.Sleep(time.Minute)
	os.Exit(1)
}

func TestServerDiesWithItsParent(t *testing.T) {
	base := t.TempDir() // gets what the child leaves behind
	for _, dir := range []string{base, filepath.Dir(base)} {
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "SLUICE_SANDBOX_CHILD=1", "TMPDIR="+base)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	var pid int
	if fmt.Sscan(line, &pid); pid == 0 {
		t.Fatal("no server: ", line)
	}
	if !alive(pid) {
		t.Fatal("the server is not running")
	}
	child.Process.Kill()
	child.Wait()
	await(t, "the end of the server", func() bool { return !alive(pid) })
}
