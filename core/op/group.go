package op

// Group is the heading that documentation lists an operation under.
type Group string

// The groups.
const (
	Namespaces         Group = "Namespaces"
	Documents          Group = "Documents"
	Querying           Group = "Query"
	Reranking          Group = "Rerank"
	Models             Group = "Models"
	ForOpenAI          Group = "OpenAI"
	ForMem0            Group = "mem0"
	Sources            Group = "Sources"
	Events             Group = "Events"
	Webhooks           Group = "Webhooks"
	Memories           Group = "Memories"
	Recalling          Group = "Recall"
	EndUsers           Group = "End users"
	Status             Group = "Status"
	AdminOrganizations Group = "Admin: organizations"
	AdminMembers       Group = "Admin: members"
	AdminKeys          Group = "Admin: keys"
	AdminIntegrations  Group = "Admin: integrations"
	AdminNamespaces    Group = "Admin: namespaces"
	AdminEndUsers      Group = "Admin: end users"
	AdminJobs          Group = "Admin: jobs"
	AdminEvents        Group = "Admin: events"
	AdminWebhooks      Group = "Admin: webhooks"
	AdminAudit         Group = "Admin: audit"
	AdminUsage         Group = "Admin: usage"
	AdminSettings      Group = "Admin: settings"
)

// Groups lists all in the order of the documentation.
func Groups() []Group {
	return []Group{
		Namespaces, Documents, Querying, Reranking, Models, Sources, Events, Webhooks, Memories, Recalling, EndUsers, Status,
		ForOpenAI, ForMem0,
		AdminOrganizations, AdminMembers, AdminKeys, AdminIntegrations, AdminNamespaces, AdminEndUsers,
		AdminJobs, AdminEvents, AdminWebhooks, AdminAudit, AdminUsage, AdminSettings,
	}
}

// Text says in a sentence what the operations of a group are for; "" is not a group.
func (g Group) Text() string {
	switch g {
	case Namespaces:
		return "Named sets of documents."
	case Documents:
		return "Write, read, list and delete the documents of a namespace."
	case Querying:
		return "Find the passages of a namespace that answer a question."
	case Reranking:
		return "Score texts against a query, also in the shapes of other services' clients."
	case Models:
		return "The models that this server runs."
	case ForOpenAI:
		return "Embeddings, models and searches of vector stores as OpenAI's clients ask for them, with its errors. " +
			"See docs/openai.md."
	case ForMem0:
		return "Memories as the clients of mem0's platform ask for them, with its errors; paths end in a slash where " +
			"these send one. See docs/mem0.md."
	case Sources:
		return "Apps connected to the service, each of which syncs into a namespace. While sources are unavailable, " +
			"every route answers 503."
	case Events:
		return "What has happened: pages that one can wait for, in an order to rely on."
	case Memories:
		return "Keep and search the memories of end users."
	case Recalling:
		return "Answer questions from an end user's memories, with proof."
	case EndUsers:
		return "Which sources may write an end user's memories, and erasing an end user for good."
	case Status:
		return "Is the server, or the caller's integration, working."
	case AdminOrganizations:
		return "Organizations and their suspension."
	case AdminMembers:
		return "People who sign in to the console as themselves, and what they may do."
	case AdminKeys:
		return "Keys of an organization."
	case AdminIntegrations:
		return "Integrations of the memory API with their quotas and keys."
	case AdminNamespaces:
		return "Namespaces whose vectors are of other models, and recomputing them."
	case AdminEndUsers:
		return "The roster of end users, their export, erasure and reindexing."
	case Webhooks:
		return "Endpoints that an organization's events are sent to, signed as Standard Webhooks 1.0 says, and their deliveries."
	case AdminWebhooks:
		return "Webhooks of an organization, also those that get events of its end users and keys."
	case AdminEvents:
		return "What has happened in an organization, to its end users and keys, too."
	case AdminJobs:
		return "Work in the background: how far it is, why it failed, and ending it early."
	case AdminAudit:
		return "Who did what to what, and who was refused."
	case AdminSettings:
		return "The configuration that the server runs with."
	case AdminUsage:
		return "What was done on whose account, what is kept, and quotas of organizations."
	}
	return ""
}
