// A time series chart (uPlot) in theme colours, with the same data as a table for screen readers.
import type { Activity } from "@posthorn/client";
import { useEffect, useRef } from "react";
import UPlot from "uplot";
import { useIsDark, useLanguage } from "../../app/preferences.ts";
import { axisTime, exactUtc } from "../../format/time.ts";

type Point = Activity["points"][number];

export interface Series {
  readonly field: Exclude<keyof Point, "at">;
  readonly name: () => string;
  readonly colour: "ok" | "bad" | "warn" | "calm";
  readonly isFilled?: boolean;
}

const HEIGHT_PX = 180;
/** The minimum distance of time labels. */
const TIME_PX = 110;

/** Axis steps: all values are integers. */
const STEPS = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** Indexes of values between two gaps, drawn as points: a line would have no length. */
function isolatedIndexes(values: readonly (number | null)[]): number[] {
  const isThere = (index: number) => (values[index] ?? null) !== null;
  return values.flatMap((_, index) =>
    isThere(index) && !isThere(index - 1) && !isThere(index + 1) ? [index] : [],
  );
}

/** The value of a colour token, which may be light-dark(…). */
function resolved(token: string, element: HTMLElement): string {
  element.style.color = token;
  const { color } = getComputedStyle(element);
  element.style.color = "";
  return color;
}

export function Chart({
  title,
  points,
  series,
  format,
}: {
  readonly title: string;
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}) {
  const container = useRef<HTMLDivElement>(null);
  const language = useLanguage();
  const isDark = useIsDark();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colours, the language the labels
  useEffect(() => {
    const element = container.current;
    const spanMs = Date.parse(points.at(-1)?.at ?? "") - Date.parse(points[0]?.at ?? "");
    if (element === null) return;
    const colourOf = (name: string) => resolved(`var(--color-${name})`, element);
    const { fontFamily } = getComputedStyle(element);
    const axis = {
      stroke: colourOf("muted"),
      grid: { stroke: colourOf("line"), width: 1 },
      ticks: { show: false },
      font: `12px ${fontFamily}`,
    };
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        cursor: { drag: { x: false, y: false } },
        legend: { live: true },
        axes: [
          {
            ...axis,
            space: TIME_PX,
            values: (_, ticks) => ticks.map((tick) => axisTime(new Date(tick * 1_000), spanMs)),
          },
          { ...axis, size: 60, incrs: STEPS, values: (_, ticks) => ticks.map((tick) => format(tick)) },
        ],
        series: [
          { label: "UTC", value: (_, at) => (at === null ? "" : exactUtc(new Date(at * 1_000))) },
          ...series.map(({ field, name, colour, isFilled }) => ({
            label: name(),
            stroke: colourOf(`${colour}-chart`),
            width: 1.5,
            points: {
              show: true,
              size: 5,
              filter: () => isolatedIndexes(points.map((point) => point[field])),
            },
            value: (_: UPlot, value: number | null) => (value === null ? "" : format(value)),
            ...(isFilled && { fill: colourOf(`${colour}-chart`).replace(/^rgb\((.*)\)$/, "rgba($1, 0.13)") }),
          })),
        ],
      },
      [
        points.map(({ at }) => Date.parse(at) / 1_000),
        ...series.map(({ field }) => points.map((point) => point[field])),
      ],
      element,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [points, series, format, language, isDark]);
  return (
    <figure>
      <figcaption className="pb-2 font-medium">{title}</figcaption>
      <div
        ref={container}
        aria-hidden="true"
        className="[&_.u-legend]:font-sans [&_.u-legend]:text-xs [&_.u-label]:font-normal [&_.u-series_th]:after:!content-none [&:not(:hover)_.u-series:first-child]:invisible"
      />
      {/* wraps the table, which cannot be smaller than its content */}
      <div className="sr-only">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">UTC</th>
              {series.map(({ field, name }) => (
                <th key={field} scope="col">
                  {name()}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map((point) => (
              <tr key={point.at}>
                <th scope="row">{point.at}</th>
                {series.map(({ field }) => {
                  const value = point[field];
                  return <td key={field}>{value === null ? "–" : format(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
