// What the server says about the portal in its page: how it looks, and whose pages may show it in a frame.

export interface PortalSettings {
  readonly origins: readonly string[];
  readonly name?: string;
  readonly logoUrl?: string;
  readonly accent?: string;
  readonly appearance: "auto" | "light" | "dark";
}

export const portalSettings: PortalSettings = {
  origins: [],
  appearance: "auto",
  ...(JSON.parse(
    document.querySelector<HTMLMetaElement>('meta[name="posthorn-portal"]')?.content ?? "{}",
  ) as Partial<PortalSettings>),
};
