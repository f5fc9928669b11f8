// Valid and invalid values of JSON Schema's formats, mostly from its official test suite.
import { expect, test } from "vitest";
import { cpuMsOf } from "../../../../tests/support/cpu-time.ts";
import { formats } from "./formats.ts";

interface Truth {
  /** Separated by spaces. */
  readonly valid: string;
  readonly wrong: string;
  /** Texts that contain spaces. */
  readonly wrongToo?: readonly string[];
}

const label63 = "a".repeat(63);
const truths: Readonly<Record<string, Truth>> = {
  date: {
    valid: "1963-06-19 2024-02-29 2020-12-31 0001-01-01",
    wrong: `2023-02-29 2020-04-31 2023-13-01 2023-00-10 23-01-01 2023-1-1 06/19/1963 2013-350 1963-06-1৪ 19630619
      2023-03-28T00:00:00Z 2013-W01`,
  },
  time: {
    valid: `08:30:06Z 08:30:06z 23:20:50.52Z 08:30:06+00:20 08:30:06-08:00 23:59:60Z 01:29:60+01:30 15:59:60-08:00
      23:29:60+23:30 00:29:60-23:30`,
    wrong: `09:30:00 24:00:00Z 008:030:006Z 8:3:6Z 08:60:00Z 08:30:61Z 22:59:60Z 23:58:60Z 23:59:60+01:00
      23:59:60-01:00 01:02:03+24:00 01:02:03+00:60 01:02:03Z+00:30 01:01:01,1111 08:30:06#00:20 12:00:00.Z
      12:00:00.${"1".repeat(99)}Z`,
  },
  "date-time": {
    valid: `1963-06-19T08:30:06.283185Z 2026-11-15t09:30:00.123+01:00 1990-12-31T15:59:50.123-08:00
      1998-12-31T23:59:60Z 1998-12-31T15:59:60.123-08:00`,
    wrong: `2026-11-15 2026-02-30T00:00:00Z 1998-12-31T23:59:61Z 1998-12-31T23:58:60Z 1990-12-31T15:59:59-24:00
      1963-06-19T08:30:06.28123+01:00Z 2013-350T01:01:01 1963-6-19T08:30:06.283185Z 2026-11-15T09:30:00`,
    wrongToo: ["06/19/1963 08:30:06 PST", "2026-11-15 09:30:00Z"],
  },
  uuid: {
    valid: "2EB8AA08-AA98-11EA-B4AA-73B441D16380 00000000-0000-0000-0000-000000000000",
    wrong: `2eb8aa08-aa98-11ea-b4aa-73b441d1638 2eb8aa08aa9811eab4aa73b441d16380
      2eb8aa08-aa98-11ea-b4ga-73b441d16380 2eb8-aa08-aa98-11ea-b4aa73b44-1d16380`,
  },
  email: {
    valid: `joe.bloggs@example.com te~st@example.com a+b@x.y "joe..bloggs"@example.com "joe@bloggs"@example.com
      joe.bloggs@[127.0.0.1] joe.bloggs@[IPv6:::1] joe@localhost ${"a".repeat(64)}@example.com`,
    wrong: `nomail a@ @b @ a@b_c .test@example.com test.@example.com te..st@example.com joe@invalid=domain.com
      joe@[127.0.0.300] joe@[::1] joe@[] <joe@example.com> a@b@c jörg@example.com joe@example.com.
      "joe"bloggs"@example.com ${"a".repeat(65)}@example.com a@${`${label63}.`.repeat(4)}com`,
    wrongToo: ["a b@x", "user1@oceania.org, user2@oceania.org"],
  },
  hostname: {
    valid: `www.example.com xn--4gbwdl.xn--wgbh1c a a-b.example 1host 123 ${label63}
      ${`${label63}.`.repeat(3)}${"a".repeat(61)}`,
    wrong: `-a a- a..b a_b . .example example. a.-b 例え ${"a".repeat(64)}
      ${`${label63}.`.repeat(3)}${"a".repeat(62)}`,
    wrongToo: ["ex ample"],
  },
  ipv4: {
    valid: "192.168.0.1 0.0.0.0 255.255.255.255",
    wrong: "127.0.0.0.1 256.256.256.256 127.0 0x7f000001 2130706433 087.10.0.1 1.2.3.4/24 ::1 1২7.0.0.1",
  },
  ipv6: {
    valid: "::1 :: d6:: 1:d6::42 1:2::192.168.0.1 ::ffff:192.168.0.1 1:2:3:4:5:6:7:8",
    wrong: `127.0.0.1 fe80::1%eth0 fe80::a% 12345:: 1:1:1:1:1:1:1:1:1 :2:3:4:5:6:7:8 1::d6::42
      1::2:192.168.256.1 1:2:3:4:5:6:7 ::laptop fe80::/64`,
  },
  uri: {
    valid: `http://foo.bar/?baz=qux#quux http://foo.com/blah_(wikipedia)_blah#cite-1 urn:a:b https://example.com/x?y
      http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com mailto:John.Doe@example.com tel:+1-816-555-1212
      ldap://[2001:db8::7]/c=GB?objectClass?one http://xn--nw2a.xn--j6w193g/`,
    wrong: `//foo.bar/?baz=qux#quux /abc \\\\WINDOWS\\fileshare abc 1a:b bar,baz:foo https://[@example.org/test.txt
      https://example.org/foobar\\.txt https://example.org/foobar<>.txt https://example.org/foobar{}.txt
      https://example.org/foobar^.txt https://example.org/foobar\`.txt https://example.org/foobar|.txt
      https://example.org/%zz https://example.org/ü https://a/b#c#d https://[::1 https://[12345::]/ https://a/"
      https://a/[b] https://a/${"b".repeat(8_192)}`,
    wrongToo: ["http:// shouldfail.com", ":// should fail", "https://example.org/foo bar.txt"],
  },
};

test.each(Object.keys(formats))("%s accepts its valid texts and no others", (format) => {
  const { valid, wrong, wrongToo = [] } = truths[format] as Truth;
  const accepted = (texts: readonly string[]) => texts.filter((text) => formats[format]?.(text));
  const good = valid.split(/\s+/);
  expect(accepted(good)).toEqual(good);
  const padded = good.flatMap((text) => [` ${text}`, `${text}\n`]);
  expect(accepted(["", ...wrong.split(/\s+/), ...wrongToo, ...padded])).toEqual([]);
});

test.each(Object.keys(formats))("a long text is not a valid %s, and the check is fast", async (format) => {
  const check = () => {
    for (const long of ["a", "a.", "a@", "%41", "1:", "x:a/", "x://a:", '"\\a']) {
      expect(formats[format]?.(`${long.repeat(250_000 / long.length)} `)).toBe(false);
    }
  };
  expect(await cpuMsOf(check)).toBeLessThan(1_000);
});
