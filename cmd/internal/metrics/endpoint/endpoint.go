// Package endpoint serves what Prometheus reads, and the health of a process.
package endpoint

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewRegistry returns a registry with the metrics of the process itself.
func NewRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Serve serves /metrics, /healthz, which is 204 while the process lives, and /readyz, which is 200 if problems returns none and else 503 with what it returns,
// by the names of parts. It returns when it listens; stop ends it.
func Serve(address string, metrics prometheus.Gatherer, problems func() map[string]string, log *slog.Logger) (stop func(), err error) {
	in, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	paths := http.NewServeMux()
	paths.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	paths.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	paths.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		found := problems()
		w.Header().Set("Content-Type", "application/json")
		if len(found) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"ready": len(found) == 0, "problems": found})
	})
	server := &http.Server{Handler: paths, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute}
	go func() {
		if err := server.Serve(in); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics", "error", err)
		}
	}()
	log.Info("serves /metrics, /healthz and /readyz", "address", in.Addr().String())
	return func() { _ = server.Close() }, nil
}
