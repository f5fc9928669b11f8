// Portal settings that the server writes into the page: branding and the origins that may embed it.

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
