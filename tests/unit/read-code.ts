// What the sources of the packages import, contain as strings and use as global names.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "rolldown/utils";

export interface SourceFile {
  /** From the root of the repository: packages/<package>/src/… */
  readonly path: string;
  readonly source: string;
}

export interface Import {
  readonly module: string;
  /** Nothing but types. */
  readonly isType: boolean;
  /** The imported values; null if they are not listed by name. */
  readonly names: readonly string[] | null;
}

export interface Code {
  /** All kinds of imports: static, lazy, required, exported again, of types. */
  readonly imports: readonly Import[];
  /** The other strings; each `${…}` of a template is one space. */
  readonly strings: readonly string[];
  /** Used identifiers that the file does not import or declare as a function, and properties of the global object. */
  readonly globals: ReadonlySet<string>;
}

/** Reads all sources of the packages, without tests and generated files. */
export function readSources(): SourceFile[] {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  return readdirSync(`${root}packages`)
    .map((name) => `packages/${name}/src`)
    .flatMap((src) => readdirSync(root + src, { recursive: true }).map((path) => `${src}/${path}`))
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !/\.test\.|\/generated\//.test(path))
    .map((path) => ({ path, source: readFileSync(root + path, "utf8") }));
}

export function readCode({ path, source }: SourceFile): Code {
  const imports: Import[] = [];
  const strings: string[] = [];
  const used = new Set<string>();
  const bound = new Set<string>();
  /** Modules are no strings, and names of properties no identifiers. */
  const skipped = new Set<unknown>();

  const addImport = (from: unknown, isType: boolean, names: readonly string[] | null): void => {
    const { value: module } = from as { value?: unknown };
    skipped.add(from);
    if (typeof module === "string") imports.push({ module, isType, names });
  };
  const skipKey = ({ key, computed = false }: { key: unknown; computed?: boolean }): void => {
    if (!computed) skipped.add(key);
  };

  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  new Visitor({
    ImportDeclaration({ source: from, importKind, specifiers }) {
      for (const { local } of specifiers) bound.add(local.name);
      const values = specifiers.filter((one) => !("importKind" in one && one.importKind === "type"));
      const isType = importKind === "type" || (specifiers.length > 0 && values.length === 0);
      const names = values.map((one) =>
        one.type === "ImportSpecifier" && one.imported.type === "Identifier" ? one.imported.name : null,
      );
      const isListed = specifiers.length > 0 && !names.includes(null);
      addImport(from, isType, isListed ? (names as string[]) : null);
    },
    ExportNamedDeclaration({ source: from, exportKind }) {
      if (from !== null) addImport(from, exportKind === "type", null);
    },
    ExportAllDeclaration: ({ source: from, exportKind }) => addImport(from, exportKind === "type", null),
    ImportExpression: ({ source: from }) => addImport(from, false, null),
    TSImportType: ({ source: from }) => addImport(from, true, null),
    CallExpression({ callee, arguments: [first] }) {
      if (callee.type === "Identifier" && callee.name === "require") addImport(first, false, null);
    },
    Literal(node) {
      if (typeof node.value === "string" && !skipped.has(node)) strings.push(node.value);
    },
    TemplateLiteral: ({ quasis }) => void strings.push(quasis.map(({ value }) => value.cooked).join(" ")),
    MemberExpression({ object, property, computed }) {
      const isGlobal = object.type === "Identifier" && ["globalThis", "navigator"].includes(object.name);
      if (!computed && !isGlobal) skipped.add(property);
    },
    Property: skipKey,
    PropertyDefinition: skipKey,
    MethodDefinition: skipKey,
    TSPropertySignature: skipKey,
    TSMethodSignature: skipKey,
    FunctionDeclaration({ id }) {
      if (id !== null) bound.add(id.name);
    },
    Identifier(node) {
      if (!skipped.has(node) || node.name === "getBuiltinModule") used.add(node.name);
    },
  }).visit(program);
  return { imports, strings, globals: new Set([...used].filter((name) => !bound.has(name))) };
}
