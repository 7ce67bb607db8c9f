package spec

// problem is a kind of error about the meaning of a spec; message takes arguments, hint does not.
type problem struct {
	code, message, hint string
}

// All messages about the meaning of a spec. Those about its form are in errors.go.
var (
	badExtensionName = problem{"bad-name", "extension name %q cannot name files and a control file",
		"use letters, digits, _ and single -, beginning with a letter or _ and not ending with -"}
	badVersion      = problem{"bad-version", "extension version %q is no semantic version", "write three numbers, such as 1.0.0"}
	unusableVersion = problem{"bad-version", "PostgreSQL cannot use the extension version %q in the name of a script", "it may neither hold -- nor end with -"}
	reservedSchema  = problem{"reserved-name", "schema %q belongs to PostgreSQL", "choose another, such as pgtrickle or public"}
	reservedRole    = problem{"reserved-name", "role %q belongs to PostgreSQL", "name a group role of your own"}
	sameRole        = problem{"duplicate-name", "role %q is both %s and %s", "give each a role of its own; they receive different grants"}
	roleOfAll       = problem{"conflict", "role %q is already the %s of all inboxes and outboxes", "leave it out, or name another role"}
	noProducer      = problem{"conflict", "the outbox of stream table %q has no producer: refreshes write it", "leave producer out"}
	noArtifacts     = problem{"missing-value", "artifacts lists nothing, so that nothing would be generated", "leave it out for extension, migrations, jobs and docs"}
	artifactTwice   = problem{"duplicate-name", "artifact %q is listed twice", "list it once"}
	twoLayouts      = problem{"conflict", "artifacts lists both %s and %s, but migrations have one layout", "keep one of the two"}
	badTableName    = problem{"bad-name", "invalid %s name %q: %s", `write name or schema.name; a part that holds a dot goes in double quotes`}
	dotInName       = problem{"bad-name", "%s name %q holds a dot", "a name here has no schema part"}
	duplicateName   = problem{"duplicate-name", "%s %q is defined twice", "names of one kind must differ"}
	duplicateSpec   = problem{"duplicate-name", "extension %q is the name of two specs, which would write the same files", "give each extension a name of its own"}
	relationClash   = problem{"name-clash", "%s has the relation %s, and so does %s", "a relation belongs to one object; rename one of the two"}
	catalogClash    = problem{"reserved-name", "%s has the relation %s, but names that begin with pgt_ are the catalog's", "choose a name that does not begin with pgt_"}

	renamedToItself = problem{"bad-rename", "%s %q is renamed from itself", "renamed_from holds the former name; leave it out if the name never changed"}
	renamedFromLive = problem{"bad-rename", "%s %q is renamed from %q, which is still defined", "remove the old definition, or renamed_from"}
	renamedTwice    = problem{"bad-rename", "two of one kind are renamed from %q", "only one can keep its data; a rename that was released needs no renamed_from any more"}

	noQuery         = problem{"missing-field", "stream table %q has no query", `add "query: |" and the select indented below it, or "query_file:"`}
	twoQueries      = problem{"conflict", "stream table %q has both query and query_file", "keep one of the two"}
	noFuse          = problem{"conflict", "fuse has no effect with refresh_mode %s, %s", "leave fuse out, or use refresh_mode auto or differential"}
	noCheck         = problem{"conflict", "check has no effect with refresh_mode full, in which each refresh compares the table with its query", "leave check out, or use another refresh_mode"}
	checkTooOften   = problem{"out-of-range", "check is %s, but must be %s or longer", "each check computes the whole query: once a day is often enough for most"}
	immediateOutbox = problem{"conflict", "stream table in immediate mode cannot have an outbox: %s", "choose another refresh_mode, or allow it with outbox: {immediate: true}"}
	idleBelow       = problem{"retention-conflict", "idle_group acts after %s, before the outbox's retention of %s is over", "make after at least as long as the retention"}

	unknownOutbox   = problem{"unknown-name", "consumer group %q consumes %q, which is no outbox of this spec", ""}
	severalOutboxes = problem{"ambiguous-name", "consumer group %q consumes %q, and stream tables of that name in several schemas have outboxes", "write the name with its schema"}
	noOutboxToGive  = problem{"conflict", "imperative lists outboxes, and the spec has no stream table that could be given one", "leave it out; event outboxes are listed under outboxes"}
	noTableOutbox   = problem{"unknown-name", "consumer group %q consumes stream table %q, which has no outbox", `add "outbox: true" to the stream table`}
	noChangeFeed    = problem{"unknown-name", "consumer group %q consumes inbox %q, which has no change feed", `add "change_feed: true" to the inbox`}

	orderingPriority = problem{"conflict", "ordering and priority config conflict for inbox: %s", "an inbox is processed in sequence or by priority; keep one of the two"}
	managedOnly      = problem{"conflict", "%s works on managed inboxes only; the table of inbox %q is yours and is never altered", "leave it out, or leave out table"}
	allTenants       = problem{"conflict", "%s does not go together with tenant, by which inbox %q keeps messages apart", "leave it out, or leave out tenant and make an inbox for each tenant"}
	tableOnly        = problem{"conflict", "columns names the columns of a table of yours, but inbox %q is managed", `leave it out, or add "table:"`}
	retryNeedsColumn = problem{"conflict", "retry of inbox %q needs a timestamptz column of your table that says when a message is due again", "name it in columns: {available_at: …}"}
	sameColumn       = problem{"duplicate-name", "columns %s and %s are both %q", "each is a column of its own"}
	idTwice          = problem{"duplicate-name", "id names column %q twice", "name it once"}
	wiredID          = problem{"conflict", "inbox %q has a wire format, whose documents bring one id, and its id has several columns", "name a column that is unique by itself in columns: {id: …}, or leave wire_format out"}
	sequenceInID     = problem{"conflict", "sequence %q is the id, which is unique in all aggregates", "order by a column of its own, or by one of several that make the id"}
	calculatedInbox  = problem{"bad-value", "an inbox cannot have a calculated schedule", "expected " + expectedSchedule}
	windowTooShort   = problem{"retention-conflict", "dedup_window %s is shorter than the %s for which processed messages are kept", "ids are remembered with their messages anyway; make the window longer, or leave it out"}
	windowNeedless   = problem{"retention-conflict", "dedup_window has no effect, because processed messages are kept forever", "leave it out, or give retention: {processed: …}"}
	maxBelowInitial  = problem{"conflict", "retry max %s is shorter than its initial delay %s", "make max at least as long as initial"}
	initialZero      = problem{"out-of-range", "retry initial must be longer than 0s", "write retry: none if failed messages are due again at once"}
	delayNeedless    = problem{"conflict", "retry has no delay with backoff none", "leave it out, or choose another backoff"}
	criticalFirst    = problem{"conflict", "critical_pending_age %s is below degraded_pending_age %s", "a message is degraded before it is critical"}

	sameOrderColumn = problem{"conflict", "ordering uses %q both as aggregate and as sequence", "a sequence orders the messages within an aggregate"}
	contiguousTime  = problem{"conflict", "mode contiguous needs a numeric sequence, but received_at is a timestamp", "use mode: monotonic, or name a sequence column"}
	startNeedless   = problem{"conflict", "start has no effect with mode monotonic, which does not wait for missing numbers", "leave it out"}
	notOrderable    = problem{"bad-value", "column %q of a managed inbox cannot be a sequence", "use received_at, or a new name, which becomes a bigint column"}
	unknownColumn   = problem{"unknown-name", "a managed inbox has no text column %q", "its text columns are event_id, event_type, source, aggregate_id, trace_id"}
	takenColumn     = problem{"name-clash", "%s cannot add column %q: a managed inbox has one of this name", "choose another name"}
	systemColumn    = problem{"reserved-name", "%s cannot add column %q: it is a system column of PostgreSQL", "choose another name"}
	noPriority      = problem{"missing-field", "priority of inbox %q has neither map nor tiers", "add one of the two; tiers: default gives three tiers"}
	twoPriorities   = problem{"conflict", "priority of inbox %q has both map and tiers", "keep one of the two"}
	emptyPriority   = problem{"missing-value", "priority %s of inbox %q is empty", "add an entry, or leave priority out"}
	wiredTiers      = problem{"conflict", "inbox %q has a wire format, whose documents bring no priority for tiers", "use a map of event types"}
	noWait          = problem{"out-of-range", "max_wait must be longer than 0s", "give the time for which a message may be passed over, such as 10m"}
	tierBackwards   = problem{"out-of-range", "tier %q ranges from %d to %d", "min must not be above max"}
	tierOverlap     = problem{"conflict", "tiers %q and %q both hold priority %d", "ranges include both ends and must not overlap"}

	notOnTarget        = problem{"not-generated", "target %s has no %s", ""}
	noArtifactOnTarget = problem{"not-generated", "target %s has no artifact %q", "its artifacts are migrations and docs"}
	noSettingOnTarget  = problem{"not-generated", "setting %q has no effect on target %s", ""}
	unreadOnTarget     = problem{"reserved-name", "%s cannot be called %q: bodies of functions on %s are stored without quotes, and its plpgsql does not read this word", "choose another name"}
	reservedOnTarget   = problem{"reserved-name", "schema %q belongs to %s", "choose another, such as pgtrickle or public"}
)
