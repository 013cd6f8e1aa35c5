/* metrics/accept.c - which form an Accept header asks for
 *
 *   Accept: range *( "," range )
 *   range:  ( type "/" subtype | type "/" "*" | "*" "/" "*" ) *( ";" name "=" value )
 *
 * Of the ranges that fit a form the most specific one says how much it is wanted (q, 0 to
 * 1 in thousandths). A range that is not well-formed fits nothing. Source: RFC 9110,
 * 12.5.1, 12.4.2, 5.6.6.
 */

#include "expose.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct text {
	const char *at;
	size_t n;
};

static const struct {
	const char *type, *subtype, *version;
} forms[] = {
	[METRICS_TEXT] = { "text", "plain", "0.0.4" },
	[METRICS_OPENMETRICS] = { "application", "openmetrics-text", "1.0.0" },
};

struct range {
	struct text type, subtype, version, charset;
	unsigned q; /* thousandths */
};

static bool same(struct text a, const char *b)
{
	return a.n == strlen(b) && !strncasecmp(a.at, b, a.n);
}

static void skip_blanks(const char **at)
{
	*at += strspn(*at, " \t");
}

static bool take_char(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

static bool is_token_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool take_token(const char **at, struct text *ret)
{
	*ret = (struct text){ *at, 0 };
	while (is_token_char(**at)) {
		++*at;
		ret->n++;
	}
	return ret->n > 0;
}

/* Escapes stay in it: no value that means something here has one. */
static bool take_quoted(const char **at, struct text *ret)
{
	if (!take_char(at, '"'))
		return false;
	ret->at = *at;
	for (; **at && **at != '"'; ++*at)
		if (**at == '\\' && !*++*at)
			return false;
	ret->n = (size_t)(*at - ret->at);
	return take_char(at, '"');
}

/* "0", "0.75", "1.000" */
static bool take_weight(struct text t, unsigned *ret)
{
	unsigned v = 0, digit = 1000;

	if (!t.n || t.n > 5 || (t.at[0] != '0' && t.at[0] != '1') ||
	    (t.n > 1 && t.at[1] != '.'))
		return false;
	for (size_t i = 0; i < t.n; i++) {
		if (i == 1)
			continue;
		if (!isdigit((unsigned char)t.at[i]))
			return false;
		v += digit * (unsigned)(t.at[i] - '0');
		digit /= 10;
	}
	*ret = v;
	return v <= 1000;
}

static bool take_parameter(const char **at, struct range *r)
{
	struct text name, value;

	skip_blanks(at);
	if (**at == ';' || **at == ',' || !**at)
		return true; /* an empty one is allowed */
	if (!take_token(at, &name) || !take_char(at, '=') ||
	    !(**at == '"' ? take_quoted(at, &value) : take_token(at, &value)))
		return false;
	if (same(name, "version"))
		r->version = value;
	else if (same(name, "charset"))
		r->charset = value;
	else if (same(name, "q"))
		return take_weight(value, &r->q);
	return true;
}

static bool take_range(const char **at, struct range *r)
{
	*r = (struct range){ .q = 1000 };
	skip_blanks(at);
	if (!take_token(at, &r->type) || !take_char(at, '/') ||
	    !take_token(at, &r->subtype))
		return false;
	for (skip_blanks(at); take_char(at, ';'); skip_blanks(at))
		if (!take_parameter(at, r))
			return false;
	return **at == ',' || !**at;
}

/* To the next comma that is in no quotes, and past it. */
static void skip_range(const char **at)
{
	bool quoted = false;

	for (; **at && (quoted || **at != ','); ++*at) {
		if (**at == '\\' && quoted && (*at)[1])
			++*at;
		else if (**at == '"')
			quoted = !quoted;
	}
	take_char(at, ',');
}

/* Return: how specific the range is that fits, 0 = it does not. */
static unsigned fit(const struct range *r, enum metrics_form form)
{
	if (r->version.at && !same(r->version, forms[form].version))
		return 0;
	if (r->charset.at && !same(r->charset, "utf-8"))
		return 0;
	if (same(r->type, "*"))
		return same(r->subtype, "*") ? 1 : 0;
	if (!same(r->type, forms[form].type))
		return 0;
	if (same(r->subtype, "*"))
		return 2;
	if (!same(r->subtype, forms[form].subtype))
		return 0;
	return r->version.at ? 4 : 3;
}

enum metrics_form metrics_accept(const char *accept)
{
	unsigned q[2] = { 0, 0 }, best[2] = { 0, 0 };

	while (accept && *accept) {
		const char *at = accept;
		struct range r;
		bool good = take_range(&at, &r);

		skip_range(&accept);
		for (unsigned f = 0; good && f < 2; f++) {
			unsigned specific = fit(&r, (enum metrics_form)f);

			if (specific < best[f] || !specific ||
			    (specific == best[f] && r.q < q[f]))
				continue;
			best[f] = specific;
			q[f] = r.q;
		}
	}
	return q[METRICS_OPENMETRICS] > q[METRICS_TEXT] ? METRICS_OPENMETRICS
							: METRICS_TEXT;
}
