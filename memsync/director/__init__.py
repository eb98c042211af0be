"""The director chooses what a task gets: match → relevance → rank → exclude → deliver."""
