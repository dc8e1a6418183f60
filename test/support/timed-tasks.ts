interface Task {
  readonly at: number;
  readonly run: () => void;
}

/** What happens in a simulation, in the order of its time. Tasks of the same time run in the order in which they were added. */
export class TimedTasks {
  readonly #tasks: Task[] = [];

  get isEmpty(): boolean {
    return this.#tasks.length === 0;
  }

  add(at: number, run: () => void): void {
    let low = 0;
    for (let high = this.#tasks.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.#tasks[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    this.#tasks.splice(low, 0, { at, run });
  }

  /** Takes the next task; undefined if there is none until then. */
  take(until = Infinity): Task | undefined {
    return this.#tasks[0] && this.#tasks[0].at <= until ? this.#tasks.shift() : undefined;
  }
}
