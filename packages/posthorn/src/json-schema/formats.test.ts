// What JSON Schema's formats are and are not, mostly by the cases of its own test suite.
import { expect, test } from "vitest";
import { cpuMsOf } from "../../../../tests/support/cpu-time.ts";
import { formats } from "./formats.ts";

interface Truth {
  readonly valid: readonly string[];
  readonly wrong: readonly string[];
}

const label63 = "a".repeat(63);
const truths: Readonly<Record<string, Truth>> = {
  date: {
    valid: ["1963-06-19", "2024-02-29", "2020-12-31", "0001-01-01"],
    wrong: [
      "",
      "2023-02-29",
      "2020-04-31",
      "2023-13-01",
      "2023-00-10",
      "23-01-01",
      "2023-1-1",
      "06/19/1963",
    ].concat([
      "2013-350",
      "2023-03-28T00:00:00Z",
      " 2023-03-28",
      "2023-03-28\n",
      "1963-06-1৪",
      "19630619",
      "2013-W01",
    ]),
  },
  time: {
    valid: [
      "08:30:06Z",
      "08:30:06z",
      "23:20:50.52Z",
      "08:30:06.283185Z",
      "08:30:06+00:20",
      "08:30:06-08:00",
    ].concat([
      "23:59:60Z",
      "23:59:60+00:00",
      "01:29:60+01:30",
      "15:59:60-08:00",
      "23:29:60+23:30",
      "00:29:60-23:30",
    ]),
    wrong: [
      "",
      "09:30:00",
      "24:00:00Z",
      "008:030:006Z",
      "8:3:6Z",
      "08:60:00Z",
      "08:30:61Z",
      "22:59:60Z",
    ].concat(
      [
        "23:58:60Z",
        "23:59:60+01:00",
        "23:59:60-01:00",
        "01:02:03+24:00",
        "01:02:03+00:60",
        "01:02:03Z+00:30",
      ],
      [
        "12:00:00",
        "08:30:06 PST",
        "01:01:01,1111",
        "08:30:06#00:20",
        "12:00:00.Z",
        `12:00:00.${"1".repeat(99)}Z`,
      ],
    ),
  },
  "date-time": {
    valid: ["1963-06-19T08:30:06.283185Z", "1963-06-19T08:30:06Z", "2026-11-15t09:30:00.123+01:00"].concat([
      "1990-12-31T15:59:50.123-08:00",
      "1998-12-31T23:59:60Z",
      "1998-12-31T15:59:60.123-08:00",
    ]),
    wrong: ["", "2026-11-15", "2026-02-30T00:00:00Z", "1998-12-31T23:59:61Z", "1998-12-31T23:58:60Z"].concat(
      [
        "1998-12-31T22:59:60Z",
        "1990-12-31T15:59:59-24:00",
        "1963-06-19T08:30:06.28123+01:00Z",
        "2013-350T01:01:01",
      ],
      [
        "06/19/1963 08:30:06 PST",
        "1963-6-19T08:30:06.283185Z",
        "2026-11-15 09:30:00Z",
        "2026-11-15T09:30:00",
      ],
    ),
  },
  uuid: {
    valid: ["2EB8AA08-AA98-11EA-B4AA-73B441D16380", "2eb8aa08-aa98-11ea-b4aa-73b441d16380"].concat([
      "00000000-0000-0000-0000-000000000000",
      "98d80576-482e-427f-8434-7f86890ab222",
    ]),
    wrong: ["", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08aa9811eab4aa73b441d16380"].concat([
      "2eb8aa08-aa98-11ea-73b441d16380",
      "2eb8aa08-aa98-11ea-b4ga-73b441d16380",
      "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380",
    ]),
  },
  email: {
    valid: [
      "joe.bloggs@example.com",
      "te~st@example.com",
      "~test@example.com",
      "test~@example.com",
      "a+b@x.y",
    ].concat(
      [
        "te.s.t@example.com",
        '"joe bloggs"@example.com',
        '"joe..bloggs"@example.com',
        '"joe@bloggs"@example.com',
      ],
      ["joe.bloggs@[127.0.0.1]", "joe.bloggs@[IPv6:::1]", "joe@localhost", `${"a".repeat(64)}@example.com`],
    ),
    wrong: [
      "",
      "nomail",
      "2962",
      "a@",
      "@b",
      "@",
      "a b@x",
      "a@b_c",
      ".test@example.com",
      "test.@example.com",
    ].concat(
      [
        "te..st@example.com",
        "joe.bloggs@invalid=domain.com",
        "joe.bloggs@[127.0.0.300]",
        "joe@[::1]",
        "joe@[]",
      ],
      [
        "user1@oceania.org, user2@oceania.org",
        "<joe@example.com>",
        "a@b@c",
        "jörg@example.com",
        "joe@example.com.",
      ],
      [
        `${"a".repeat(65)}@example.com`,
        `a@${`${label63}.`.repeat(4)}com`,
        "example.com",
        '"joe"bloggs"@example.com',
      ],
    ),
  },
  hostname: {
    valid: [
      "www.example.com",
      "xn--4gbwdl.xn--wgbh1c",
      "a",
      "a-b.example",
      "hostname",
      "1host",
      "h0stn4me",
      "123",
    ].concat([label63, `${`${label63}.`.repeat(3)}${"a".repeat(61)}`]),
    wrong: ["", "-a", "a-", "a..b", "a_b", ".", ".example", "example.", "a.-b", "ex ample", "例え"].concat([
      "a".repeat(64),
      `${`${label63}.`.repeat(3)}${"a".repeat(62)}`,
      "a\n",
    ]),
  },
  ipv4: {
    valid: ["192.168.0.1", "127.0.0.1", "0.0.0.0", "255.255.255.255"],
    wrong: [
      "",
      "127.0.0.0.1",
      "256.256.256.256",
      "127.0",
      "0x7f000001",
      "2130706433",
      "087.10.0.1",
      "1.2.3.4/24",
    ].concat(["::1", "1২7.0.0.1", " 127.0.0.1", "127.0.0.1\n"]),
  },
  ipv6: {
    valid: [
      "::1",
      "::abef",
      "::",
      "::42:ff:1",
      "d6::",
      "1:d6::42",
      "1::d6:192.168.0.1",
      "1:2::192.168.0.1",
    ].concat(["::ffff:192.168.0.1", "1:2:3:4:5:6:7:8", "::ffff:0:255.255.255.255"]),
    wrong: [
      "",
      "127.0.0.1",
      "fe80::1%eth0",
      "fe80::a%",
      "12345::",
      "::abcef",
      "1:1:1:1:1:1:1:1:1",
      ":2:3:4:5:6:7:8",
    ].concat([
      "1::d6::42",
      "1::2:192.168.256.1",
      "1:2:3:4:5:6:7",
      ":1:2:3:4:5:6:7:8:",
      "::laptop",
      "  ::1",
      "::1 ",
      "fe80::/64",
    ]),
  },
  uri: {
    valid: ["http://foo.bar/?baz=qux#quux", "http://foo.com/blah_(wikipedia)_blah#cite-1", "urn:a:b"].concat(
      [
        "http://foo.bar/?q=Test%20URL-encoded%20stuff",
        "http://xn--nw2a.xn--j6w193g/",
        "https://example.com/x?y",
      ],
      [
        "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
        "http://223.255.255.254",
        "mailto:John.Doe@example.com",
      ],
      [
        "ftp://ftp.is.co.za/rfc/rfc1808.txt",
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "tel:+1-816-555-1212",
      ],
      ["news:comp.infosystems.www.servers.unix", "urn:oasis:names:specification:docbook:dtd:xml:4.1.2"],
    ),
    wrong: [
      "",
      "//foo.bar/?baz=qux#quux",
      "/abc",
      "\\\\WINDOWS\\fileshare",
      "abc",
      "example.com",
      "1a:b",
    ].concat(
      [
        "http:// shouldfail.com",
        ":// should fail",
        "bar,baz:foo",
        "https://[@example.org/test.txt",
        "https://a b",
      ],
      [
        "https://example.org/foobar\\.txt",
        "https://example.org/foobar<>.txt",
        "https://example.org/foobar{}.txt",
      ],
      [
        "https://example.org/foobar^.txt",
        "https://example.org/foobar`.txt",
        "https://example.org/foo bar.txt",
      ],
      [
        "https://example.org/foobar|.txt",
        "https://example.org/%zz",
        "https://example.org/ü",
        "https://a/b#c#d",
      ],
      [
        "https://[::1",
        "https://[12345::]/",
        'https://a/"',
        "https://a/[b]",
        `https://a/${"b".repeat(8_192)}`,
      ],
    ),
  },
};

const cases = Object.entries(truths).flatMap(([format, { valid, wrong }]) => [
  ...valid.map((text) => [format, text, true] as const),
  ...wrong.map((text) => [format, text, false] as const),
]);

test.each(cases)("%s: %j is one: %s", (format, text, isOne) => {
  expect(formats[format]?.(text)).toBe(isOne);
});

test("every format that is checked has its truths", () => {
  expect(Object.keys(truths).toSorted()).toEqual(Object.keys(formats).toSorted());
});

test.each(Object.keys(formats))("a long text is no %s, and the check is fast", async (format) => {
  const check = () => {
    for (const long of ["a", "a.", "a@", "%41", "1:", "x:a/", "x://a:", '"\\a']) {
      expect(formats[format]?.(`${long.repeat(250_000 / long.length)} `)).toBe(false);
    }
  };
  expect(await cpuMsOf(check)).toBeLessThan(1_000);
});
