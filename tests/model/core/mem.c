/* core/mem.c - umems and memory keys: number -> bytes
 *
 * A umem is queue memory (rings, doorbell records), named by number and offset.
 * A key is packet memory, named by key and address; it belongs to a protection
 * domain, and only queues of that domain may use it.
 *
 * Every range check is written as offset and length against a size, never as a
 * sum of two numbers that a program chose.
 */
#include "obj.h"

#include <errno.h>
#include <stdlib.h>

/* ---- umem ---- */

static bool uid_exists(const struct cx_dev *dev, uint16_t uid)
{
	return !uid || cx_obj_get(dev, CX_UCTX, uid, 0);
}

static bool range_ok(const void *base, uint64_t len)
{
	return base && len && len - 1 <= UINTPTR_MAX - (uintptr_t)base;
}

int cx_umem_reg(struct cx_dev *dev, uint16_t uid, void *base, uint64_t len,
		uint32_t access, uint32_t *num)
{
	struct cx_umem *umem;
	int rc;

	if (!range_ok(base, len) || !uid_exists(dev, uid) ||
	    access & ~CX_ACCESS_LOCAL_WRITE)
		return -EINVAL;
	umem = calloc(1, sizeof(*umem));
	if (!umem)
		return -ENOMEM;
	umem->base = base;
	umem->len = len;
	umem->access = access;
	rc = cx_obj_add(dev, &umem->obj, CX_UMEM, uid);
	if (rc) {
		free(umem);
		return rc;
	}
	*num = umem->obj.num;
	return 0;
}

int cx_umem_dereg(struct cx_dev *dev, uint16_t uid, uint32_t num)
{
	struct cx_obj *obj = cx_obj_get(dev, CX_UMEM, num, uid);

	if (!obj) {
		cx_log(dev, "UMEM 0x%x: no such umem of uid %u", num, uid);
		return -ENOENT;
	}
	if (obj->refs) {
		cx_log(dev, "UMEM 0x%x: still used by %u objects", num, obj->refs);
		return -EBUSY;
	}
	cx_obj_free(dev, obj);
	return 0;
}

uint8_t *cx_umem_at(const struct cx_umem *umem, uint64_t offset, uint64_t len)
{
	if (offset > umem->len || len > umem->len - offset)
		return NULL;
	return umem->base + offset;
}

/* ---- keys ---- */

/* Odd steps, and another one every 256 keys: the next key with the same number has another low
 * byte, also when numbers come round after 256 or 512 of them. A stale key is refused. */
static uint8_t fresh_variant(struct cx_dev *dev)
{
	uint32_t n = dev->keys_made++;

	return (uint8_t)(n * 0x35 + (n >> 8) * 0x6b + 0x5a);
}

int cx_mkey_new(struct cx_dev *dev, uint16_t uid, uint32_t pdn, uint8_t *base,
		uint64_t iova, uint64_t len, uint32_t access, struct cx_umem *umem,
		struct cx_mkey **ret)
{
	struct cx_obj *pd = cx_obj_get(dev, CX_PD, pdn, uid);
	struct cx_mkey *mkey;
	int rc;

	if (!pd || !range_ok(base, len) || len - 1 > UINT64_MAX - iova)
		return -EINVAL;
	mkey = calloc(1, sizeof(*mkey));
	if (!mkey)
		return -ENOMEM;
	*mkey = (struct cx_mkey){ .pdn = pdn,
				  .access = access,
				  .base = base,
				  .iova = iova,
				  .len = len,
				  .umem = umem };
	rc = cx_obj_add(dev, &mkey->obj, CX_MKEY, uid);
	if (rc) {
		free(mkey);
		return rc;
	}
	mkey->variant = fresh_variant(dev);
	pd->refs++;
	if (umem)
		umem->obj.refs++;
	*ret = mkey;
	return 0;
}

void cx_mkey_free(struct cx_dev *dev, struct cx_mkey *mkey)
{
	struct cx_obj *pd = cx_obj_get(dev, CX_PD, mkey->pdn, 0);

	if (pd)
		pd->refs--;
	if (mkey->umem)
		mkey->umem->obj.refs--;
	cx_obj_free(dev, &mkey->obj);
}

int cx_mkey_reg(struct cx_dev *dev, uint16_t uid, uint32_t pdn, void *base, uint64_t iova,
		uint64_t len, uint32_t access, uint32_t *key)
{
	struct cx_mkey *mkey;
	int rc;

	if (!uid_exists(dev, uid))
		return -EINVAL;
	rc = cx_mkey_new(dev, uid, pdn, base, iova, len, access, NULL, &mkey);
	if (rc)
		return rc;
	*key = mkey->obj.num << 8 | mkey->variant;
	return 0;
}

/* The key itself, whoever asks; NULL when index or variant is wrong. */
static struct cx_mkey *key_of(const struct cx_dev *dev, uint32_t key)
{
	struct cx_mkey *mkey =
		(struct cx_mkey *)cx_space_at(dev->objs, CX_SPACE_MKEY, key >> 8);

	return mkey && mkey->variant == (key & 0xff) ? mkey : NULL;
}

int cx_mkey_dereg(struct cx_dev *dev, uint16_t uid, uint32_t key)
{
	struct cx_mkey *mkey = key_of(dev, key);

	if (!mkey || (uid && mkey->obj.uid != uid)) {
		cx_log(dev, "MKEY 0x%x: no such key of uid %u", key, uid);
		return -ENOENT;
	}
	if (mkey->obj.refs) {
		cx_log(dev, "MKEY 0x%x: still used by %u objects", key, mkey->obj.refs);
		return -EBUSY;
	}
	cx_mkey_free(dev, mkey);
	return 0;
}

/* ---- access ---- */

uint8_t *cx_dma(struct cx_dev *dev, uint32_t key, uint32_t pdn, uint64_t addr,
		uint32_t len, uint32_t access, const char **why)
{
	const struct cx_mkey *mkey = key_of(dev, key);
	uint64_t at;

	if (__builtin_expect(!mkey, 0)) {
		*why = "no such key";
		return NULL;
	}
	at = addr -
	     mkey->iova; /* of an address before the range: past its end, as it wraps */
	if (__builtin_expect(at > mkey->len || len > mkey->len - at, 0))
		*why = "outside the key's range";
	else if (__builtin_expect(mkey->pdn != pdn, 0))
		*why = "key of another protection domain";
	else if (__builtin_expect(access & ~mkey->access, 0))
		*why = "key without local write";
	else
		return mkey->base + at;
	return NULL;
}

void *cx_mkey_peek(struct cx_dev *dev, uint32_t key, uint64_t addr, uint32_t len)
{
	const struct cx_mkey *mkey = key_of(dev, key);
	const char *why;

	return mkey ? cx_dma(dev, key, mkey->pdn, addr, len, 0, &why) : NULL;
}
