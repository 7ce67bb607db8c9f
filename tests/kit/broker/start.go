package broker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Redis starts a Redis that writes each command to disk before it answers.
func Redis(t T, settings ...string) *Process {
	t.Helper()
	dir, port := t.TempDir(), Port(t)
	return start(t, dir, port, nil, find(t, "redis-server"), append([]string{
		"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always",
	}, settings...)...)
}

// RabbitMQ starts a RabbitMQ with lines for its rabbitmq.conf.
func RabbitMQ(t T, settings ...string) *Process {
	t.Helper()
	dir, port, names := t.TempDir(), Port(t), Port(t)
	write(t, filepath.Join(dir, "plugins"), "[].")
	write(t, filepath.Join(dir, "rabbitmq.conf"), strings.Join(settings, "\n"))
	start(t, dir, names, nil, find(t, "epmd"), "-port", names, "-address", "127.0.0.1")
	return start(t, dir, port, []string{
		"HOME=" + dir, "RABBITMQ_MNESIA_BASE=" + dir + "/data", "RABBITMQ_LOG_BASE=" + dir + "/log", "RABBITMQ_LOGS=-",
		"RABBITMQ_CONFIG_FILE=" + dir + "/rabbitmq.conf", "RABBITMQ_ENABLED_PLUGINS_FILE=" + dir + "/plugins",
		"RABBITMQ_NODENAME=test-" + port + "@localhost", "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", "RABBITMQ_NODE_PORT=" + port,
		"RABBITMQ_DIST_PORT=" + Port(t), "ERL_EPMD_PORT=" + names, "ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1 +sbwt none -start_epmd false",
	}, find(t, "rabbitmq-server", "/usr/lib/rabbitmq/bin", "/opt/homebrew/opt/rabbitmq/sbin"))
}

// Mosquitto starts a broker of MQTT with lines for its configuration. It saves its state when it gets SIGUSR1.
func Mosquitto(t T, settings ...string) *Process {
	t.Helper()
	dir, port := t.TempDir(), Port(t)
	write(t, filepath.Join(dir, "mosquitto.conf"), fmt.Sprintf(
		"listener %s 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\npersistence true\npersistence_location %s/\nuser root\n%s\n",
		port, dir, strings.Join(settings, "\n")))
	return start(t, dir, port, nil, find(t, "mosquitto"), "-c", filepath.Join(dir, "mosquitto.conf"))
}

func write(t T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
