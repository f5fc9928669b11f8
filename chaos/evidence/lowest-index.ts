/** Returns the index of the first item of a sorted list for which `isPast` holds, or the list's length. */
export function lowestIndex<Item>(items: readonly Item[], isPast: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPast(items[middle] as Item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
