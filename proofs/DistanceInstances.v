(* Numbers that meet all that the theorems of distances ask for, and reach their bounds; and what is wrong with definitions
   and constants a little different. *)

From Coq Require Import Reals Lra Lia ZArith.
From Flocq Require Import Core.Raux Core.Generic_fmt Core.Round_NE.
From Discreet Require Import Sums Distance.
Open Scope R_scope.

Ltac weigh :=
  unfold probability, probability_between, weights_between, weight; cbn [sum];
  repeat match goal with |- context [Z.abs_nat ?z] =>
    let n := eval vm_compute in (Z.abs_nat z) in change (Z.abs_nat z) with n end;
  cbn [pow]; lra.

Lemma nearest_of_halves : nearest (1 / 2) = 1%Z /\ nearest (3 / 2) = 2%Z /\ nearest (-1 / 2) = 0%Z.
Proof. unfold nearest. split; [|split]; apply Zfloor_imp; cbn; lra. Qed.

Example nearest_apart_instance :
  Rabs (1 / 2 - 3 / 2) <= IZR 1 /\ (nearest (1 / 2) - nearest (3 / 2) = -1)%Z /\
  (- 1 <= nearest (1 / 2) - nearest (3 / 2) <= 1)%Z.
Proof.
  assert (near : Rabs (1 / 2 - 3 / 2) <= IZR 1) by (apply Rabs_le; lra).
  split; [exact near|]. split; [destruct nearest_of_halves as [-> [-> _]]; reflexivity|].
  apply (nearest_apart (1 / 2) (3 / 2) 1 near).
Qed.

Example to_ends_apart_instance : to_ends 3 7 = 3%Z /\ to_ends 3 (-2) = 0%Z /\
  (- Z.min 9 3 <= to_ends 3 7 - to_ends 3 (-2) <= Z.min 9 3)%Z.
Proof. split; [reflexivity|split; [reflexivity|]]. apply to_ends_apart; lia. Qed.

Example distance_change_instance : (- Z.abs (5 - 9) - - Z.abs (3 - 9) = 2)%Z /\
  (- 2 <= - Z.abs (5 - 9) - - Z.abs (3 - 9) <= 2)%Z.
Proof. split; [reflexivity|]. apply (distance_change 3 5 9 2). lia. Qed.

Example weights_are_balanced_instance :
  weights_around (1 / 2) 0 1 = 2 /\ weights_around (1 / 2) 7 1 = 2.
Proof.
  assert (here : weights_around (1 / 2) 0 1 = 2).
  { assert (twice : (1 - 1 / 2) * weights_around (1 / 2) 0 1 = 1) by (rewrite weights_around_are; cbn; lra). lra. }
  split; [exact here|]. rewrite (weights_are_balanced (1 / 2) 7 0). exact here.
Qed.

Example weights_converge_instance : Un_cv (fun N => weights_around (1 / 2) 0 N) 3.
Proof. replace 3 with ((1 + 1 / 2) / (1 - 1 / 2)) by lra. apply weights_converge. lra. Qed.

(* Two steps, a = 1/2: 1/3 of the mass at the point itself, 1/12 two steps away. *)
Example without_ends_instance :
  probability (1 / 2) 0 0 = 1 / 3 /\ probability (1 / 2) 2 0 = 1 / 12 /\
  (1 / 2) ^ 2 * probability (1 / 2) 0 0 <= probability (1 / 2) 2 0.
Proof.
  split; [weigh|]. split; [weigh|].
  apply without_ends; [lra|cbn; lia].
Qed.

Example without_ends_is_tight_instance :
  (1 / 2) ^ 2 * probability (1 / 2) 0 0 = probability (1 / 2) (-2) 0.
Proof. apply (without_ends_is_tight (1 / 2) 0 0 2). lia. Qed.

Lemma three_points :
  probability_between (1 / 2) 3 0 0 = 4 / 7 /\ probability_between (1 / 2) 3 1 0 = 1 / 4.
Proof. split; weigh. Qed.

Example with_ends_instance :
  (1 / 2) ^ 2 * probability_between (1 / 2) 3 0 0 <= probability_between (1 / 2) 3 1 0.
Proof. apply (with_ends (1 / 2) 3 0 1 0 1); [lra|lia|cbn; lia]. Qed.

Lemma totals_of_three : total_at (1 / 2) 3 0 = 7 / 4 /\ total_at (1 / 2) 3 1 = 2.
Proof. unfold total_at. split; weigh. Qed.

Example with_ends_exactly_instance :
  (1 / 2) ^ 1 * total_at (1 / 2) 3 0 * probability_between (1 / 2) 3 0 0 = 1 / 2 /\
  total_at (1 / 2) 3 1 * probability_between (1 / 2) 3 1 0 = 1 / 2 /\
  (1 / 2) ^ 1 * total_at (1 / 2) 3 0 * probability_between (1 / 2) 3 0 0 <=
    total_at (1 / 2) 3 1 * probability_between (1 / 2) 3 1 0.
Proof.
  destruct totals_of_three as [none step]. destruct three_points as [zero one].
  split; [rewrite none, zero; lra|split; [rewrite step, one; lra|]].
  apply (with_ends_exactly (1 / 2) 3 0 1 0 1); [lra|lia|lia|lia|lia|lia].
Qed.

Example with_ends_exactly_is_tight_instance :
  (1 / 2) ^ 1 * total_at (1 / 2) 3 0 * probability_between (1 / 2) 3 0 0 =
    total_at (1 / 2) 3 1 * probability_between (1 / 2) 3 1 0.
Proof. apply (with_ends_exactly_is_tight (1 / 2) 3 1); [lra|lia]. Qed.

(* ---- Definitions and constants a little different would be wrong ---- *)

(* Half to even. *)
Lemma half_to_even_moves_two_steps :
  Rabs (1 / 2 - 3 / 2) <= IZR 1 /\ (ZnearestE (3 / 2) - ZnearestE (1 / 2) = 2)%Z.
Proof.
  split; [apply Rabs_le; lra|]. unfold Znearest.
  replace (Zfloor (3 / 2)) with 1%Z by (symmetry; apply Zfloor_imp; cbn; lra).
  replace (Zfloor (1 / 2)) with 0%Z by (symmetry; apply Zfloor_imp; cbn; lra).
  rewrite !Rcompare_Eq by lra. cbn.
  replace (Zceil (3 / 2)) with 2%Z by (symmetry; apply Zceil_imp; cbn; lra). reflexivity.
Qed.

Lemma one_step_less_is_too_few :
  ~ (1 / 2) ^ 1 * probability (1 / 2) 0 0 <= probability (1 / 2) (-2) 0.
Proof. rewrite <- without_ends_is_tight_instance. weigh. Qed.

(* With ends the factor comes more than once. *)
Lemma with_ends_once_is_too_few :
  ~ (1 / 2) ^ 1 * probability_between (1 / 2) 3 0 0 <= probability_between (1 / 2) 3 1 0.
Proof. destruct three_points as [-> ->]. cbn. lra. Qed.
