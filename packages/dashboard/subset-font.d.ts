declare module "subset-font" {
  function subsetFont(
    font: Buffer,
    text: string,
    options: {
      readonly targetFormat: "woff2";
      readonly variationAxes: Readonly<Record<string, { readonly min: number; readonly max: number }>>;
      readonly keepFeatures: readonly string[];
      readonly noHinting: boolean;
    },
  ): Promise<Buffer>;
  export = subsetFont;
}
