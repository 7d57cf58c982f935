// Package webhook sends events to endpoints of an organization, as Standard Webhooks 1.0 says.
//
// The publisher of events makes the deliveries in the transactions that number them. Of all
// replicas the one that claims a webhook sends what is due of it: of one entity one delivery at a
// time, in the order of the events, so that a failing one holds back its entity and nothing else.
// What came of an attempt is stored under the claim. A process that ends between the answer and
// that leaves the delivery to be sent again, with the id that it had.
//
// Service does the operations of webhooks.
package webhook
