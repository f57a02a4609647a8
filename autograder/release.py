"""How a solution becomes a release, where nbgrader's own way leaves nothing to start from."""

from nbgrader.preprocessors import ClearSolutions as NbgraderClearSolutions


class ClearSolutions(NbgraderClearSolutions):
    """nbgrader's ClearSolutions, which also knows a cell's own stub, and puzzles.

    Both stand in the cell's metadata: blocklab.stub is the source of the cell in the release;
    blocklab.puzzle marks a solution that nbgrader does not record.
    """

    def preprocess_cell(self, cell, resources, cell_index):
        ours = cell.metadata.pop("blocklab", {})
        if "stub" in ours:
            cell.source = ours["stub"]
        elif "puzzle" in ours:
            self._replace_solution_region(cell, "python")
        else:
            return super().preprocess_cell(cell, resources, cell_index)
        return cell, resources
