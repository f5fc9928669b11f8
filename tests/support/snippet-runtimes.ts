// Runs snippets that verify requests, each in its language: one program per language with the snippets of all schemes,
// which reads requests and prints true or false for each.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeTemporaryFolder } from "./temporary-folder.ts";

export interface SnippetSource {
  readonly scheme: string;
  readonly code: string;
  /** The function takes the URL as its last argument. */
  readonly needsUrl: boolean;
}

export interface SignedRequest {
  readonly scheme: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly secret: string;
  readonly url: string;
}

interface Runtime {
  /** What must be installed. */
  readonly programs: readonly string[];
  readonly compiler?: readonly [program: string, ...args: string[]];
  readonly command: readonly [program: string, ...args: string[]];
  files(snippets: readonly SnippetSource[]): Readonly<Record<string, string>>;
  /** How a field of a request is written. Default: base64. */
  readonly encode?: (field: Buffer) => string;
}

const nameOf = (index: number) => `s${index}`;
const perSnippet = (
  snippets: readonly SnippetSource[],
  line: (snippet: SnippetSource, name: string) => string,
): string => snippets.map((snippet, index) => line(snippet, nameOf(index))).join("\n");
const eachFile = (
  snippets: readonly SnippetSource[],
  entry: (snippet: SnippetSource, name: string) => readonly [string, string],
) => Object.fromEntries(snippets.map((snippet, index) => entry(snippet, nameOf(index))));

export const runtimes: Readonly<Record<string, Runtime>> = {
  TypeScript: {
    programs: ["node"],
    command: ["node", "--import", import.meta.resolve("tsx"), "main.ts"],
    files: (snippets) => ({
      "package.json": '{ "type": "module" }',
      ...eachFile(snippets, ({ code }, name) => [`${name}.ts`, code]),
      "main.ts": `import { readFileSync } from "node:fs";
${perSnippet(snippets, (_, name) => `import { isAuthentic as ${name} } from "./${name}.ts";`)}
const snippets = { ${snippets.map(({ scheme }, index) => `${JSON.stringify(scheme)}: ${nameOf(index)}`).join(", ")} };
for (const line of readFileSync(0, "utf8").trim().split("\\n")) {
  const [scheme, headers, body, secret, url] = line.split(" ").map((text) => Buffer.from(text, "base64"));
  const named = new Headers(String(headers).split("\\n").filter(Boolean).map((header) => header.split(/: (.*)/s).slice(0, 2)));
  console.log(String(snippets[String(scheme)](named, new Uint8Array(body), String(secret), String(url))));
}
`,
    }),
  },
  Python: {
    programs: ["python3"],
    command: ["python3", "main.py"],
    files: (snippets) => ({
      ...eachFile(snippets, ({ code }, name) => [`${name}.py`, code]),
      "main.py": `import base64, sys
from email.message import Message
${perSnippet(snippets, (_, name) => `import ${name}`)}
snippets = {
${perSnippet(snippets, ({ scheme, needsUrl }, name) => `    "${scheme}": lambda headers, body, secret, url: ${name}.is_authentic(headers, body, secret${needsUrl ? ", url" : ""}),`)}
}
for line in sys.stdin:
    scheme, headers, body, secret, url = [base64.b64decode(text) for text in line.rstrip("\\n").split(" ")]
    message = Message()
    for header in headers.decode().split("\\n"):
        if header:
            name, value = header.split(": ", 1)
            message[name] = value
    print(str(snippets[scheme.decode()](message, body, secret.decode(), url.decode())).lower())
`,
    }),
  },
  Go: {
    programs: ["go"],
    compiler: ["go", "build", "-o", "snippets", "."],
    command: ["./snippets"],
    files: (snippets) => ({
      "go.mod": "module snippets\n\ngo 1.19\n",
      ...eachFile(snippets, ({ code }, name) => [
        `${name}/webhook.go`,
        code.replace("package webhook", `package ${name}`),
      ]),
      "main.go": `package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"
${perSnippet(snippets, (_, name) => `\t"snippets/${name}"`)}
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		fields := [][]byte{}
		for _, text := range strings.Split(lines.Text(), " ") {
			field, _ := base64.StdEncoding.DecodeString(text)
			fields = append(fields, field)
		}
		headers := http.Header{}
		for _, line := range strings.Split(string(fields[1]), "\\n") {
			if name, value, found := strings.Cut(line, ": "); found {
				headers.Set(name, value)
			}
		}
		body, secret, url := fields[2], string(fields[3]), string(fields[4])
		_ = url
		switch string(fields[0]) {
${perSnippet(snippets, ({ scheme, needsUrl }, name) => `\t\tcase "${scheme}":\n\t\t\tfmt.Println(${name}.IsAuthentic(headers, body, secret${needsUrl ? ", url" : ""}))`)}
		}
	}
}
`,
    }),
  },
  PHP: {
    programs: ["php"],
    command: ["php", "main.php"],
    files: (snippets) => ({
      ...eachFile(snippets, ({ code }, name) => [
        `${name}.php`,
        code.replace("<?php", `<?php\nnamespace ${name};`),
      ]),
      "main.php": `<?php
${perSnippet(snippets, (_, name) => `require '${name}.php';`)}
$snippets = [
${perSnippet(snippets, ({ scheme, needsUrl }, name) => `'${scheme}' => fn($h, $b, $s, $u) => \\${name}\\is_authentic($h, $b, $s${needsUrl ? ", $u" : ""}),`)}
];
while (($line = fgets(STDIN)) !== false) {
    [$scheme, $lines, $body, $secret, $url] = array_map('base64_decode', explode(' ', rtrim($line, "\\n")));
    $headers = [];
    foreach (array_filter(explode("\\n", $lines)) as $header) {
        [$name, $value] = explode(': ', $header, 2);
        $headers[strtolower($name)] = $value;
    }
    echo $snippets[$scheme]($headers, $body, $secret, $url) ? "true\\n" : "false\\n";
}
`,
    }),
  },
  Ruby: {
    programs: ["ruby"],
    command: ["ruby", "main.rb"],
    files: (snippets) => ({
      ...eachFile(snippets, ({ code }, name) => [`${name}.rb`, code]),
      "main.rb": `snippets = {
${perSnippet(snippets, ({ scheme }, name) => `  "${scheme}" => Module.new { module_eval(File.read("${name}.rb")); module_function :authentic? },`)}
}
with_url = ${JSON.stringify(snippets.filter(({ needsUrl }) => needsUrl).map(({ scheme }) => scheme))}
STDIN.each_line do |line|
  scheme, lines, body, secret, url = line.chomp.split(/ /, -1).map { |text| text.unpack1("m") }
  headers = lines.force_encoding("UTF-8").split("\\n").to_h { |header| header.split(": ", 2) }.transform_keys(&:downcase)
  arguments = [headers, body, secret] + (with_url.include?(scheme) ? [url] : [])
  puts snippets.fetch(scheme).authentic?(*arguments) ? "true" : "false"
end
`,
    }),
  },
  Java: {
    programs: ["java", "javac"],
    compiler: ["javac", "-d", "out", "Main.java"],
    command: ["java", "-cp", "out", "Main"],
    files: (snippets) => ({
      ...eachFile(snippets, ({ code }, name) => [`${name}/VerifyWebhook.java`, `package ${name};\n${code}`]),
      "Main.java": `import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Main {
  public static void main(String[] args) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      byte[][] fields = Arrays.stream(line.split(" ", -1)).map(Base64.getDecoder()::decode).toArray(byte[][]::new);
      Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      for (String header : new String(fields[1], StandardCharsets.UTF_8).split("\\n")) {
        String[] parts = header.split(": ", 2);
        if (parts.length == 2) headers.put(parts[0], parts[1]);
      }
      String secret = new String(fields[3], StandardCharsets.UTF_8);
      String url = new String(fields[4], StandardCharsets.UTF_8);
      System.out.println(switch (new String(fields[0], StandardCharsets.UTF_8)) {
${perSnippet(snippets, ({ scheme, needsUrl }, name) => `        case "${scheme}" -> ${name}.VerifyWebhook.isAuthentic(headers::get, fields[2], secret${needsUrl ? ", url" : ""});`)}
        default -> throw new IllegalArgumentException();
      });
    }
  }
}
`,
    }),
  },
  Shell: {
    programs: ["bash", "openssl"],
    command: ["bash", "main.sh"],
    files: (snippets) => ({
      ...eachFile(snippets, ({ code }, name) => [`${name}.sh`, code]),
      // the arguments are named in the comments of each snippet
      // builtins only: processes that decode and search took most of the time
      "main.sh": `set -u
declare -A files=(${snippets.map(({ scheme }, index) => `[${scheme}]=${nameOf(index)}.sh`).join(" ")})
header() {
  value=
  while IFS= read -r line; do
    if [[ \${line,,} == "\${1,,}: "* ]]; then value=\${line#*: }; fi
  done <<<"$headers"
}
while read -r scheme headers body secret url; do
  for field in scheme headers secret url; do printf -v "$field" %b "\${!field}"; done
  printf %b "$body" >body
  file=\${files[$scheme]}
  arguments=()
  while read -r hash position parameter what; do
    if [[ $hash$position != '#$'[0-9]* ]]; then continue; fi
    case $parameter in
      body_file:) arguments+=(body) ;;
      secret:|public_key:) arguments+=("$secret") ;;
      url:) arguments+=("$url") ;;
      *) header "\${what##* }" && arguments+=("$value") ;;
    esac
  done <"$file"
  if (source "./$file" && is_authentic "\${arguments[@]}"); then echo true; else echo false; fi
done
`,
    }),
    // for printf %b, in which \c ends an empty text
    encode: (field) => field.toString("hex").replace(/../g, "\\x$&") || "\\c",
  },
};

const asBase64 = (field: Buffer): string => field.toString("base64");

/** Returns why the language cannot run here, or null. */
export function missingProgram(language: string): string | null {
  const missing = runtimes[language]?.programs.find((program) => spawnSync("which", [program]).status !== 0);
  return missing === undefined ? null : `${missing} is not installed`;
}

/** Returns the result for each request. */
export function verifyIn(
  language: string,
  snippets: readonly SnippetSource[],
  requests: readonly SignedRequest[],
): string[] {
  const { command, compiler, files, encode = asBase64 } = runtimes[language] as Runtime;
  const cwd = makeTemporaryFolder();
  for (const [name, content] of Object.entries(files(snippets))) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  if (compiler !== undefined) execFileSync(compiler[0], compiler.slice(1), { cwd });
  const input = requests
    .map(({ scheme, headers, body, secret, url }) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const fields = [scheme, lines.join("\n"), body, secret, url];
      return fields.map((field) => encode(Buffer.from(field as string))).join(" ");
    })
    .join("\n");
  const [program, ...args] = command;
  const { stdout, stderr } = spawnSync(program, args, { cwd, input: `${input}\n`, encoding: "utf8" });
  if (stderr !== "") throw new Error(`${language}: ${stderr}`);
  return stdout.trim().split("\n");
}
