/** Zooms where the pointer drags over the time axis, as shares of what it shows; a double click ends it. */
export function listenToZoom(
  axis: HTMLElement,
  onZoom: (from: number, to: number) => void,
  onReset: () => void,
): void {
  let start: number | undefined
  const shareOf = (event: PointerEvent): number => {
    const { left, width } = axis.getBoundingClientRect()
    return Math.max(0, Math.min(1, (event.clientX - left) / width))
  }
  axis.addEventListener('pointerdown', (event) => {
    start = shareOf(event)
    axis.setPointerCapture(event.pointerId)
  })
  axis.addEventListener('pointerup', (event) => {
    const [from, to] = [start ?? 0, shareOf(event)].toSorted((left, right) => left - right)
    if (start !== undefined && to! - from! > 0.01) onZoom(from!, to!)
    start = undefined
  })
  axis.addEventListener('dblclick', onReset)
}
