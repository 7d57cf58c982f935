package webhook

import (
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

const (
	base      = "/webhooks"
	oneOf     = base + "/{id}"
	deliverOf = oneOf + "/deliveries"
	oneSent   = deliverOf + "/{delivery_id}"
	adminOf   = "/admin/v1/organizations/{org}"
)

// Operations declares the operations of the service (docs/contract.md#webhook-routes): each for
// keys of an organization, and for admin keys.
func Operations() []op.Op[*Service] {
	of := func(name, method, path, summary, description string, faults ...fault.Code) op.Spec {
		return op.Spec{Name: name, Group: op.Webhooks, Method: method, Path: path, Class: op.Admin, Timeout: 10 * time.Second,
			Mutates: method != "GET", Summary: summary, Description: description,
			Faults: append([]fault.Code{fault.InvalidRequest, fault.Forbidden}, faults...)}
	}
	body := func(s op.Spec, optional bool) op.Spec {
		s.MaxBody, s.BodyOptional = 64<<10, optional
		s.Faults = append(s.Faults, fault.InvalidJSON)
		return s
	}
	answers := func(s op.Spec, all ...op.Answer) op.Spec { s.Answers = all; return s }
	create := answers(body(of("webhooks.create", "POST", base, "Make a webhook",
		"From now on the organization's events are recorded and sent to the URL, signed as Standard Webhooks 1.0 says. "+
			"The secret is shown this once. An organization has 20 webhooks at most. Events of memories, end users, keys and "+
			"quotas are for admin keys, and so are webhooks that get them.", fault.Conflict, fault.Unavailable), false),
		op.Answer{Status: 201, Summary: "The webhook, with its secret.", Body: Made{}})
	list := of("webhooks.list", "GET", base, "List webhooks", "")
	get := of("webhooks.get", "GET", oneOf, "Read a webhook", "", fault.NotFound)
	change := body(of("webhooks.change", "PATCH", oneOf, "Change a webhook",
		"To disable it drops what waits to be sent. To enable it starts afresh; recover brings what it has not got in between.",
		fault.NotFound), false)
	remove := of("webhooks.delete", "DELETE", oneOf, "Delete a webhook", "With its deliveries. To repeat it is no error.")
	test := of("webhooks.test", "POST", oneOf+"/test", "Send a test to a webhook",
		"Sends a signed event `webhook.test` at once, also where the webhook is disabled, and answers what came back. It counts "+
			"for nothing.", fault.NotFound, fault.Unavailable)
	test.Timeout, test.TimeoutClass = 25*time.Second, op.OwnTimeout
	rotate := body(of("webhooks.rotate", "POST", oneOf+"/rotate", "Replace the secret of a webhook",
		"The new secret is shown this once. The one before signs along for `overlap`, so that receivers may be told at their "+
			"leisure; while two sign, another rotation answers 409 unless it is forced.", fault.NotFound, fault.Conflict,
		fault.Unavailable), true)
	deliveries := of("webhooks.deliveries.list", "GET", deliverOf, "List the deliveries of a webhook", "", fault.InvalidCursor,
		fault.NotFound)
	delivery := of("webhooks.deliveries.get", "GET", oneSent, "Read a delivery with its attempts", "", fault.NotFound)
	redeliver := answers(of("webhooks.deliveries.redeliver", "POST", oneSent+"/redeliver", "Send an event again",
		"One that has ended is sent again by a new delivery; one that is pending is tried now.", fault.NotFound, fault.Conflict),
		op.Answer{Status: 202, Summary: "The delivery that will bring it.", Body: Delivery{}})
	recover := body(of("webhooks.recover", "POST", oneOf+"/recover", "Send what a webhook has not taken",
		"Makes deliveries of those events of a time that no delivery has brought or is about to bring, the oldest first. To "+
			"repeat it makes none twice.", fault.NotFound, fault.Conflict), false)
	recover.Timeout, recover.TimeoutClass = 60*time.Second, op.OwnTimeout
	ops := []op.Op[*Service]{
		op.Define(create, (*Service).Create), op.Define(list, (*Service).List), op.Define(get, (*Service).Get),
		op.Define(change, (*Service).Change), op.Define(remove, (*Service).Delete), op.Define(test, (*Service).Test),
		op.Define(rotate, (*Service).Rotate), op.Define(deliveries, (*Service).Deliveries),
		op.Define(delivery, (*Service).Delivery), op.Define(redeliver, (*Service).Redeliver),
		op.Define(recover, (*Service).Recover),
		op.Define(administered(create), (*Service).CreateOf),
		op.Define(administered(list), (*Service).ListOf),
		op.Define(administered(get), (*Service).GetOf),
		op.Define(administered(change), (*Service).ChangeOf),
		op.Define(administered(remove), (*Service).DeleteOf),
		op.Define(administered(test), (*Service).TestOf),
		op.Define(administered(rotate), (*Service).RotateOf),
		op.Define(administered(deliveries), (*Service).DeliveriesOf),
		op.Define(administered(delivery), (*Service).DeliveryOf),
		op.Define(administered(redeliver), (*Service).RedeliverOf),
		op.Define(administered(recover), (*Service).RecoverOf),
	}
	return op.WithLinks(op.WithExamples(ops, examples()), links())
}

// administered is an operation on an organization that an admin key names.
func administered(s op.Spec) op.Spec {
	s.Name, s.Path, s.Group, s.Family = "admin."+s.Name, adminOf+s.Path, op.AdminWebhooks, op.Administration
	s.Summary += " of an organization"
	s.Faults = append([]fault.Code{}, s.Faults...)
	if !slices.Contains(s.Faults, fault.NotFound) {
		s.Faults = append(s.Faults, fault.NotFound)
	}
	return s
}

// links say how answers lead to further calls, by operation.
func links() map[string][]op.Link {
	out := map[string][]op.Link{}
	for _, prefix := range []string{"", "admin."} {
		of := map[string]string{"id": "$response.body#/id"}
		if prefix != "" {
			of["org"] = "$request.path.org"
		}
		out[prefix+"webhooks.create"] = []op.Link{
			{Name: "get", To: prefix + "webhooks.get", Status: 201, Summary: "Read it", Parameters: of},
			{Name: "test", To: prefix + "webhooks.test", Status: 201, Summary: "Send a test to it", Parameters: of},
		}
	}
	return out
}
