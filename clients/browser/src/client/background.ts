/** Work that is done again and again while the page is open. */

/** Calls `work` every so many seconds between `start` and `stop`. What it raises is logged; the next call comes. */
export class Background {
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly work: () => Promise<unknown>) {}

  start(seconds: number): void {
    if (this.timer === undefined) this.again(0, seconds);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private again(after: number, seconds: number): void {
    const timer = (this.timer = setTimeout(async () => {
      try {
        await this.work();
      } catch (error) {
        console.warn(`sottovoce: ${error}; trying again`);
      }
      if (this.timer === timer) this.again(seconds, seconds);
    }, 1000 * after));
  }
}
