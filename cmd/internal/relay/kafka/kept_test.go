package kafka

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

// TestAnswersOfBrokers has brokers answer that not all replicas, or none, have a document.
func TestAnswersOfBrokers(t *testing.T) {
	for _, refusal := range []*kerr.Error{kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend, kerr.KafkaStorageError, kerr.NotLeaderForPartition, kerr.TopicAuthorizationFailed} {
		t.Run(refusal.Message, func(t *testing.T) {
			cluster := startFake(t, 1)
			refuseBatches(cluster, 0, refusal)
			c := sinkConfig(cluster.ListenAddrs())
			c.Timeout = spec.Duration(time.Second)
			for _, err := range openSink(t, c).Send(t.Context(), documents(12, 3)) {
				if err == nil || wire.IsRejected(err) {
					t.Error(err)
				}
			}
		})
	}
	cluster := startFake(t, 1)
	var acks []int16
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		acks = append(acks, request.(*kmsg.ProduceRequest).Acks)
		return nil, nil, false
	})
	relaytest.SendAtOnce(t, openSink(t, sinkConfig(cluster.ListenAddrs())), documents(12, 3)...)
	if len(acks) == 0 || slices.ContainsFunc(acks, func(acks int16) bool { return acks != -1 }) {
		t.Errorf("acknowledgements of replicas: %v", acks)
	}
}
