/* test/cmd_rig.h - a valid mailbox of every command but those of flow tables
 *
 * Tests change one thing in it and look at the answer. rig_open() makes one object of
 * each kind for the mailboxes to name; building one twice is fine.
 */
#pragma once

#include "direct.h"

#define RIG_IN_BYTES  512
#define RIG_OUT_BYTES 8192

struct rig {
	struct direct *d;
	uint16_t other;		 /* another context */
	struct d_umem umem;	 /* rings and records: 64 KiB, written by the device */
	struct d_umem read_only; /* registered without local write */
	struct d_cq *cq;
	struct d_sq *sq; /* all queues in RST */
	struct d_rq *rq;
	uint32_t rmpn, rqtn, tirn; /* tirn: indirect, on rqtn */
	uint8_t q_counter;
	uint32_t flow_counter, mkey; /* a bulk of 128; the index of a key over umem */
};
struct rig *rig_open(const char *const *caps);
void rig_close(struct rig *r);

struct mailbox {
	uint16_t opcode;
	uint8_t in[RIG_IN_BYTES];
	size_t in_len, out_len;
	uint8_t out[RIG_OUT_BYTES];
};
enum cx_status rig_cmd(struct rig *r, struct mailbox *m); /* the opcode is set here */

struct rig_row {
	const char *name;
	const struct cx_layout *in;
	void (*build)(struct rig *r, struct mailbox *m);
	cx_field num;	   /* in @in: the object it is about; 0 = none */
	cx_field made;	   /* in the answer: the object it made; 0 = none */
	cx_field undo_num; /* where its number goes in the command that destroys it */
	uint16_t undo;	   /* that command */
	uint16_t opcode;
	bool kernel; /* uid 0 only */
};
extern const struct rig_row rig_rows[]; /* ended by name NULL */
const struct rig_row *rig_row(uint16_t opcode);
void rig_build(struct rig *r, uint16_t opcode, struct mailbox *m);
/* Builds and executes; asserts success; the number made. */
uint32_t rig_make(struct rig *r, uint16_t opcode);
void rig_undo(struct rig *r, const struct rig_row *row, const struct mailbox *m);

/* One field of a valid mailbox spoiled: what must come back. Ended by status CX_ST_OK. */
struct refusal {
	uint32_t byte; /* of the structure that has the field */
	cx_field field;
	uint64_t value;
	enum cx_status status;
	const char *log; /* "cqc.log_cq_size: 23 is over" */
};
void rig_refusals(struct rig *r, uint16_t opcode, const struct refusal *rows);
/* The same for one whole mailbox. */
void rig_refuse(struct rig *r, struct mailbox *m, enum cx_status status, const char *log);
/* Objects of all types; a refused command changes none. */
uint32_t rig_objects(const struct rig *r);
