/* daemon/failure.h - why a queue failed: a closed set of names for prm_syndrome_text() */
#pragma once

/* What a queue of frames can meet; of syndromes that only connections have, "other". */
enum failure {
	FAILURE_LOCAL_LENGTH,
	FAILURE_LOCAL_OPERATION,
	FAILURE_LOCAL_PROTECTION,
	FAILURE_FLUSHED,
	FAILURE_BAD_RESPONSE,
	FAILURE_LOCAL_ACCESS,
	FAILURE_OTHER,
	FAILURE_OUT_OF_STEP, /* a completion contradicts our count; receive queues only */
	FAILURE_COUNT
};

const char *failure_name(enum failure failure); /* "local_length" */
enum failure failure_of(unsigned syndrome);
