// Package cloud sends documents to queues of clouds and takes them from there: Amazon SNS and SQS, Google Pub/Sub, Azure Service Bus. Their clients are large,
// so only a binary that is built with -tags clouds has them.
//
// A message has the body of the document, and attributes: id, key, content-type, and each header by its name. Clouds restrict the names, values and number of
// attributes; headers that break a rule are together in one attribute, sluice-headers, as a JSON object. It is read as if they stood alone.
package cloud
