// Saves a file. Downloads are made by script, because a link cannot send the header that a session needs.

export function download(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
