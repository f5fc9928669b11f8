// Actions and assertions of a user on a rendered page. Everything waits for elements, nothing for time.
import { fireEvent, waitFor } from "@testing-library/react";
import { expect } from "vitest";

type Text = string | RegExp;

const CONTROLS = "button, a, summary, [role=option]";

export class Ui {
  readonly #find: () => Element;

  constructor(find: () => Element = () => document.body) {
    this.#find = find;
  }

  /** Waits until the text is on the page. */
  async see(...texts: Text[]): Promise<void> {
    for (const text of texts) await waitFor(() => expect(this.text()).toMatch(pattern(text)));
  }

  async gone(text: Text): Promise<void> {
    await waitFor(() => expect(this.text()).not.toMatch(pattern(text)));
  }

  text(): string {
    return this.#find().textContent ?? "";
  }

  /** Waits until the control is enabled, and clicks it. */
  async click(name: Text, { times = 1 } = {}): Promise<void> {
    const control = await this.control(name);
    await waitFor(() => expect([name, control.getAttribute("aria-disabled")]).toEqual([name, null]));
    for (let time = 0; time < times; time += 1) fireEvent.click(control);
  }

  /** A button, link or option by its accessible name. */
  async control(name: Text): Promise<Element> {
    return await waitFor(() => {
      const found = [...this.#find().querySelectorAll(CONTROLS)].find((element) => isNamed(element, name));
      if (found === undefined) throw new Error(`There is no control ${name}:\n${this.text()}`);
      return found;
    });
  }

  has(name: Text): boolean {
    return [...this.#find().querySelectorAll(CONTROLS)].some((element) => isNamed(element, name));
  }

  async field(label: Text): Promise<HTMLInputElement> {
    return await waitFor(() => {
      const scope = this.#find();
      const labelled = [...scope.querySelectorAll("label")].find((element) =>
        isText(element.textContent, label),
      );
      const found =
        (labelled && scope.querySelector(`[id="${labelled.getAttribute("for")}"]`)) ??
        labelled?.querySelector("input") ??
        [...scope.querySelectorAll("input, select, textarea")].find((element) =>
          isText(element.getAttribute("aria-label"), label),
        );
      if (!found) throw new Error(`There is no field ${label}:\n${this.text()}`);
      return found as HTMLInputElement;
    });
  }

  /** Also selects an option. */
  async fill(label: Text, value: string): Promise<void> {
    const field = await this.field(label);
    const options = () => [...field.querySelectorAll("option")].map((option) => option.value);
    if (field.tagName === "SELECT") await waitFor(() => expect(options()).toContain(value));
    fireEvent.change(field, { target: { value } });
    fireEvent.blur(field);
  }

  async check(label: Text): Promise<void> {
    fireEvent.click(await this.field(label));
  }

  /** Waits until the server has rejected this field. */
  async rejected(label: Text): Promise<void> {
    const field = await this.field(label);
    await waitFor(() => expect([label, field.getAttribute("aria-invalid")]).toEqual([label, "true"]));
  }

  /** The row of a table with this text. */
  async row(text: Text): Promise<Ui> {
    const find = () => {
      const found = [...this.#find().querySelectorAll("tbody tr")].find((row) =>
        pattern(text).test(row.textContent ?? ""),
      );
      if (found === undefined) throw new Error(`There is no row ${text}:\n${this.text()}`);
      return found;
    };
    await waitFor(find);
    return new Ui(find);
  }

  async rows(count: number): Promise<void> {
    await waitFor(() => expect(this.#find().querySelectorAll("tr[data-row]").length).toBe(count));
  }

  /** Opens a row. */
  async open(text: Text): Promise<void> {
    const row = await this.row(text);
    fireEvent.click(row.#find());
  }

  async openDialog(name: Text): Promise<Ui> {
    await this.click(name);
    return await this.dialog();
  }

  async dialog(): Promise<Ui> {
    const find = () => {
      const found = document.querySelector("[role=dialog]");
      if (found === null) throw new Error(`There is no dialog:\n${document.body.textContent}`);
      return found;
    };
    await waitFor(find);
    return new Ui(find);
  }
}

/** Presses keys where nothing has the focus. */
export function press(...keys: string[]): void {
  for (const key of keys) fireEvent.keyDown(document.body, { key });
}

function pattern(text: Text): RegExp {
  return typeof text === "string" ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")) : text;
}

function isNamed(element: Element, name: Text): boolean {
  return isText(element.getAttribute("aria-label") ?? element.textContent, name);
}

/** A string is the whole text. */
function isText(content: string | null, text: Text): boolean {
  const trimmed = (content ?? "").trim();
  return typeof text === "string" ? trimmed === text : text.test(trimmed);
}
