package broker

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Kafka starts a broker of Kafka that is its own controller, with lines for its configuration. Beside the address of the process, which takes all, it
// listens with TLS at encrypted, where it is localhost, and at login with the password of user app, "right", or as settings say.
func Kafka(t T, login, encrypted string, settings ...string) *Process {
	t.Helper()
	dir, port, controller := t.TempDir(), Port(t), Port(t)
	certificate, key := Certificate(t)
	both := filepath.Join(dir, "both.pem")
	write(t, both, read(t, key)+read(t, certificate))
	lines := append([]string{
		"process.roles=broker,controller", "node.id=1", "controller.quorum.voters=1@127.0.0.1:" + controller, "controller.listener.names=CONTROLLER",
		fmt.Sprintf("listeners=PLAINTEXT://127.0.0.1:%s,CONTROLLER://127.0.0.1:%s,SASL_PLAINTEXT://127.0.0.1:%s,SSL://localhost:%s", port, controller, login, encrypted),
		"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL",
		"ssl.keystore.type=PEM", "ssl.keystore.location=" + both, "log.dirs=" + filepath.Join(dir, "data"), "auto.create.topics.enable=false",
		"offsets.topic.num.partitions=1", "offsets.topic.replication.factor=1", "group.initial.rebalance.delay.ms=0",
		"sasl.enabled.mechanisms=PLAIN",
		`listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_app="right";`,
		// A broker that was killed registers again once its session has ended.
		"broker.session.timeout.ms=1000", "broker.heartbeat.interval.ms=100",
	}, settings...)
	file := filepath.Join(dir, "server.properties")
	write(t, file, strings.Join(lines, "\n"))
	java := find(t, "java")
	args := []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(kafkaJars(t), "*")}
	format := append(args, "kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", file)
	if out, err := exec.CommandContext(t.Context(), java, format...).CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	p := start(t, dir, port, nil, java, append(args, "kafka.Kafka", file)...)
	p.certificate = certificate
	return p
}

// kafkaJars is where .ci/kafka puts them.
func kafkaJars(t T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	cache = filepath.Join(cache, "sluice")
	if given := os.Getenv("SLUICE_CACHE_DIR"); given != "" {
		cache, err = given, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	_, here, _, _ := runtime.Caller(0)
	pom := read(t, filepath.Join(filepath.Dir(here), "testdata", "kafka", "pom.xml"))
	jars := filepath.Join(cache, fmt.Sprintf("kafka-%x", sha256.Sum256([]byte(pom)))[:len("kafka-")+12])
	if !isFile(filepath.Join(jars, "complete")) {
		t.Fatalf("Kafka is missing: .ci/deps-relay installs it")
	}
	return jars
}

func read(t T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
